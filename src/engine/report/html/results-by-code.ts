import { count } from '../../../base/text/format.ts';
import { shortened } from '../../../base/text/printable.ts';
import { type Outcome, outcomeText } from '../../../domain/terms.ts';
import { type Markup, markup, withWholeOptions } from './markup.ts';
import { differingPart } from './message-kind.ts';
import type { MessageGroup, PageData } from './page-data.ts';
import { outcomesInNeed } from './verdict.ts';

const longestShown = 160;

/** A table of the codes with their messages. The lines of a code's messages add up to its rows. */
export function resultsByCode(data: Pick<PageData, 'summary' | 'advice' | 'messages'>): Markup {
  const { summary, messages } = data;
  if (summary.codes.length === 0) return undefined;
  const inNeedFirst = summary.codes.toSorted((a, b) => Number(isInNeed(b)) - Number(isInNeed(a)));
  const hasUnclear = messages.some(({ unclear }) => unclear > 0);
  const lines = inNeedFirst.flatMap((tally) => linesOfCode(tally, data, hasUnclear));
  const titles = ['Outcome', 'Code', 'Message', 'Rows', ...(hasUnclear ? ['Unclear'] : [])];
  const heads = titles.map((title, place) =>
    markup('th', { scope: 'col', ...(place > 2 && { class: 'number' }) }, title),
  );
  return markup(
    'section',
    { 'aria-label': 'Results by code' },
    markup('h2', {}, 'Results by code'),
    markup(
      'table',
      { class: 'codes' },
      markup('thead', {}, markup('tr', {}, ...heads)),
      markup('tbody', {}, ...lines),
    ),
  );
}

function isInNeed({ outcome }: { readonly outcome: Outcome }): boolean {
  return outcomesInNeed.includes(outcome);
}

/** One line if all rows of the code have the same message, otherwise one more for each message. */
function linesOfCode(
  tally: PageData['summary']['codes'][number],
  { advice, messages }: Pick<PageData, 'advice' | 'messages'>,
  hasUnclear: boolean,
): readonly Markup[] {
  const { outcome, code } = tally;
  const ofCode = messages.filter((group) => group.outcome === outcome && group.code === code);
  // Messages of rows that were not called, or succeeded, say no more than the code.
  const told = isInNeed(tally) && ofCode.some(({ message }) => message !== '') ? ofCode : [];
  const target = { href: '#rows', 'data-show': outcome, 'data-code': code };
  const [only, ...others] = told;
  const { meaning, remedy } = advice[code] ?? {};
  const prose = [meaning, outcome !== 'succeeded' && remedy].filter(Boolean).join(' ');
  const what = [
    only !== undefined && others.length === 0 && messageMarkup(only, target),
    prose !== '' && markup('p', { class: 'advice quiet' }, withWholeOptions(prose)),
  ];
  const figures = ({ count: rows, unclear }: Pick<MessageGroup, 'count' | 'unclear'>): Markup => [
    figure('count', rows),
    hasUnclear && figure('unclear', unclear),
  ];
  return [
    markup(
      'tr',
      {},
      cell('outcome', markup('span', { class: `outcome ${outcome}` }, outcomeText(outcome))),
      cell('code', markup('a', { ...target, id: `code ${outcome} ${code}` }, code)),
      cell('what', what),
      figures(tally),
    ),
    ...(others.length === 0 ? [] : told).map((group) =>
      markup(
        'tr',
        { class: 'message' },
        markup('td', { colspan: '2' }),
        cell('what', messageMarkup(group, target)),
        figures(group),
      ),
    ),
  ];
}

/** What the messages of a group have in common, and the first of them. */
function messageMarkup(
  { outcome, code, kind, message, example, count: rows, isRest }: MessageGroup,
  target: Readonly<Record<string, string>>,
): Markup {
  if (isRest) return markup('span', { class: 'quiet' }, 'Other messages');
  if (message === '') return markup('span', { class: 'quiet' }, 'No message');
  const id = `message ${outcome} ${code} ${kind}`;
  return [
    markup('a', { ...target, 'data-message': kind, id }, ...withGrayGaps(shortened(message, longestShown))),
    example !== undefined &&
      markup(
        'p',
        { class: 'example quiet' },
        `e.g. row ${count(example.row)}: ${shortened(example.message, longestShown)}`,
        markup('span', {}, `, and ${count(rows - 1)} like it`),
      ),
  ];
}

/** A message, with its differing parts in gray. */
function withGrayGaps(message: string): readonly Markup[] {
  return message
    .split(differingPart)
    .flatMap((text, place) =>
      place === 0 ? [text] : [markup('span', { class: 'quiet' }, differingPart), text],
    );
}

function cell(name: string, content: Markup): Markup {
  return markup('td', { class: name }, content);
}

function figure(name: string, value: number): Markup {
  return markup('td', { class: `number ${name}` }, value === 0 ? '' : count(value));
}
