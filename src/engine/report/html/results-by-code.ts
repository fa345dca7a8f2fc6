import { count, counted } from '../../../base/text/format.ts';
import { shortened } from '../../../base/text/printable.ts';
import { type Outcome, outcomeText } from '../../../domain/terms.ts';
import { type Markup, markup } from './markup.ts';
import type { PageData } from './page-data.ts';
import { outcomesInNeed } from './verdict.ts';

/** The most messages of a code that are shown. Further ones are only counted. */
const messagesShown = 8;
const longestShown = 160;

export function resultsByCode({ summary: { codes }, advice, messages }: PageData): Markup {
  if (codes.length === 0) return undefined;
  const needs = (outcome: Outcome) => Number(outcomesInNeed.includes(outcome));
  const inNeedFirst = codes.toSorted((a, b) => needs(b.outcome) - needs(a.outcome));
  const lines = inNeedFirst.flatMap(({ outcome, code, count: rows }) => {
    const ofCode = messages.filter((group) => group.outcome === outcome && group.code === code);
    // Messages of rows that were not called, or succeeded, say no more than the code.
    const told = needs(outcome) ? ofCode.filter(({ message }) => message !== '') : [];
    const rest = told.slice(messagesShown).reduce((sum, group) => sum + group.count, 0);
    const unclear = ofCode.reduce((sum, group) => sum + group.unclear, 0);
    const target = { href: '#rows', 'data-show': outcome, 'data-code': code };
    const { meaning = '', remedy } = advice[code] ?? {};
    return [
      line(
        {},
        [
          markup('span', { class: `outcome ${outcome}` }, outcomeText(outcome)),
          ' ',
          markup('a', { ...target, id: `code ${outcome} ${code}` }, code),
          markup(
            'span',
            { class: 'quiet' },
            ` ${[meaning, outcome === 'succeeded' ? '' : remedy].filter(Boolean).join(' ')}`,
          ),
        ],
        rows,
        unclear,
      ),
      ...told
        .slice(0, messagesShown)
        .map((group) =>
          line(
            { class: 'message' },
            markup(
              'a',
              { ...target, 'data-message': group.message, id: `message ${outcome} ${code} ${group.message}` },
              shortened(group.message, longestShown),
            ),
            group.count,
            group.unclear,
          ),
        ),
      rest > 0 && line({ class: 'message' }, counted(told.length - messagesShown, 'more message'), rest, 0),
    ];
  });
  const titles = markup(
    'tr',
    {},
    markup('th', { scope: 'col' }, 'Code and message'),
    ...['Rows', 'To check'].map((title) => markup('th', { scope: 'col', class: 'number' }, title)),
  );
  return markup(
    'section',
    { 'aria-label': 'Results by code' },
    markup('h2', {}, 'Results by code'),
    markup('table', { class: 'codes' }, markup('thead', {}, titles), markup('tbody', {}, ...lines)),
  );
}

function line(
  attributes: Readonly<Record<string, string>>,
  name: Markup,
  rows: number,
  unclear: number,
): Markup {
  const figure = (value: number) => markup('td', { class: 'number' }, value === 0 ? '' : count(value));
  return markup('tr', attributes, markup('td', {}, name), figure(rows), figure(unclear));
}
