import { shortened } from '../../../base/text/printable.ts';
import { kindText, toneOf } from '../../../engine/report/plan-page/plan-groups.ts';
import { type Child, element } from '../dom.ts';
import type { RowStory } from '../row-dialog.ts';
import { changeList, chip, longestSubject, namedTexts, requestPart } from '../story-parts.ts';
import type { PlanPageRow } from './plan-rows.ts';

/** What a row will do, and why, with its request. */
export function planStory(row: PlanPageRow, request: string): RowStory {
  const { row: number, line, subject, operation, kind, why, changes, cells } = row;
  const name = shortened([operation?.thing, subject].filter(Boolean).join(' '), longestSubject);
  const isNamed = cells.some(({ text }) => text === operation?.name);
  return {
    title: [
      `Row ${number}, line ${line} · `,
      name !== '' && `${name} · `,
      chip(toneOf(kind), kindText(kind, operation)),
    ],
    content: [
      why !== null && element('p', why),
      problemsOf(row),
      warningsOf(row),
      changeList(changes),
      requestPart(request),
      element('h3', 'Manifest'),
      namedTexts(
        [
          ...(isNamed ? [] : [['Operation', operation?.name ?? ''] as const]),
          ...cells.map(({ title, text }) => [title, text === '' ? '(empty)' : (text ?? '')] as const),
        ],
        [],
      ),
    ],
  };
}

function problemsOf({ problems }: PlanPageRow): Child {
  if (problems === null) return undefined;
  const lines = problems.map(({ column, value, problem }) =>
    element(
      'li',
      [column, value === undefined ? undefined : `“${value}”`].filter(Boolean).join(' '),
      ' ',
      problem,
    ),
  );
  return element('ul', { class: 'note refusal' }, lines);
}

function warningsOf({ warnings, missing }: PlanPageRow): Child {
  if (warnings === null && missing === null) return undefined;
  const texts = [
    ...(warnings ?? []).map(({ field, text }) => [field, text].filter(Boolean).join(': ')),
    ...(missing === null ? [] : [`The API may reset what the row leaves out: ${missing.join(', ')}`]),
  ];
  const lines = texts.map((text) => element('li', text));
  return element('ul', { class: 'note' }, lines);
}
