import { shortened } from '../../../base/text/printable.ts';
import { type Markup, markup } from '../../../engine/report/html/markup.ts';
import { kindText, toneOf } from '../../../engine/report/plan-page/plan-groups.ts';
import type { FieldChange } from '../../../engine/rows/row-kind.ts';
import type { Column } from '../column.ts';
import type { PlanPageRow, PlanRows } from './plan-rows.ts';

/** The longest value in the table. Longer values are cut; the details of the row have more. */
const longestValue = 200;

/** The columns of the table, whose rows are lines. A narrow screen has no room for all columns. */
export function planColumns(rows: PlanRows): {
  readonly wide: readonly Column[];
  readonly narrow: readonly Column[];
} {
  const severalThings = new Set(rows.operations.map(({ thing }) => thing)).size > 1;
  const row = column(rows, { name: 'row', title: 'Row', isNumber: true }, (line) =>
    String(rows.rowOf(line).row),
  );
  const kind = {
    ...column(rows, { name: 'kind', title: 'What', look: 'chip' }, (line) => {
      const { kind: what, operation } = rows.rowOf(line);
      return kindText(what, operation);
    }),
    text: (line: number) => toneOf(rows.rowOf(line).kind),
  };
  const entryText = (line: number) => {
    const { subject, operation } = rows.rowOf(line);
    return severalThings && operation ? `${operation.thing} ${subject}` : subject;
  };
  const entry = column(rows, { name: 'entry', title: 'Entry', role: 'subject' }, entryText);
  const field = column(rows, { name: 'field', title: 'Field' }, (line) => fieldText(rows, line));
  const change = {
    ...column(rows, { name: 'change', title: 'Old → new', look: 'long' }, (line) => changeText(rows, line)),
    drawn: (line: number) => markup('div', { class: 'change' }, changeMarkup(rows, line)),
  };
  const stacked = {
    ...change,
    title: 'Entry, old → new',
    drawn: (line: number) => [
      markup('div', { class: 'change' }, namedMarkup(entryText(line)), chipOf(rows, line)),
      markup(
        'div',
        { class: 'change stacked' },
        namedMarkup(fieldText(rows, line), 'quiet'),
        changeMarkup(rows, line),
      ),
    ],
  };
  return { wide: [row, kind, entry, field, change], narrow: [row, stacked] };
}

function namedMarkup(text: string, className = ''): Markup {
  return text !== '' && isolatedText('span', text, className);
}

function chipOf(rows: PlanRows, line: number): Markup {
  const { kind, operation } = rows.rowOf(line);
  return markup('span', { class: `outcome ${toneOf(kind)}` }, kindText(kind, operation));
}

interface ColumnFacts extends Pick<Column, 'name' | 'title' | 'look'> {
  readonly role?: 'subject';
  readonly isNumber?: boolean;
}

function column(
  rows: PlanRows,
  { isNumber = false, ...facts }: ColumnFacts,
  shown: (line: number) => string,
): Column {
  // A long column needs no width: the table gives it the room that is left.
  let width = facts.look === 'long' ? longestValue : 0;
  for (let line = 0; width < longestValue && line < rows.lines; line += 1)
    width = Math.max(width, shown(line).length);
  const key = isNumber ? (line: number) => Number(shown(line)) : shown;
  const kind = facts.role === undefined ? 'fact' : 'cell';
  return { kind, id: facts.name, isNumber, width, text: shown, shown, key, ...facts };
}

function fieldText(rows: PlanRows, line: number): string {
  const { problems, changes, why } = rows.rowOf(line);
  const part = rows.partOf(line);
  if (problems !== null) return problems[part]?.column ?? '';
  return why === null ? (changes[part]?.field ?? '') : '';
}

function changeText(rows: PlanRows, line: number): string {
  const row = rows.rowOf(line);
  const part = rows.partOf(line);
  const problem = row.problems?.[part];
  if (problem !== undefined) return [problem.value, problem.problem].filter(Boolean).join(': ');
  if (row.why !== null) return row.why;
  const change = row.changes[part];
  return [change === undefined ? deedText(row) : changeWords(change), ...warningsIn(row, part)].join('; ');
}

function changeMarkup(rows: PlanRows, line: number): Markup {
  const row = rows.rowOf(line);
  const part = rows.partOf(line);
  const problem = row.problems?.[part];
  if (problem !== undefined)
    return [
      problem.value !== undefined && isolatedText('span', problem.value, 'wrong'),
      markup('span', { class: 'problem' }, problem.problem),
    ];
  if (row.why !== null) return markup('span', { class: 'quiet' }, row.why);
  const change = row.changes[part];
  return [
    change === undefined ? deedMarkup(row) : fromToMarkup(change),
    warningsIn(row, part).map((text) => markup('span', { class: 'warning' }, text)),
  ];
}

const arrow = markup('span', { class: 'arrow' }, '→');

function deedMarkup(row: PlanPageRow): Markup {
  const { old, new: is } = deedOf(row);
  return [
    old !== undefined && [markup('span', { class: 'quiet' }, old), arrow],
    isolatedText('ins', is),
    ...detailsOf(row).map((text) => markup('span', { class: 'quiet' }, text)),
  ];
}

function deedText(row: PlanPageRow): string {
  const { old, new: is } = deedOf(row);
  return old === undefined ? is : `${old} → ${is}`;
}

function changeWords(change: FieldChange): string {
  const { old = '?', new: is } = wordsOf(change);
  return `${old} → ${is}`;
}

/** What a row does that changes no field: `restored`, or if its list was read, `in deleted-evaluations → restored`. */
function deedOf({ operation, isCompared }: PlanPageRow): { readonly old?: string; readonly new: string } {
  const list = isCompared ? operation?.list : undefined;
  return { ...(list !== undefined && { old: `in ${list}` }), new: operation?.done ?? 'called' };
}

/** What a row says besides its entry: `user_id ana`. */
function detailsOf({ operation, values }: PlanPageRow): readonly string[] {
  return (operation?.fields ?? []).flatMap(({ name }, index) => {
    const value = values[index];
    return name === operation?.subject || value === undefined
      ? []
      : [`${name} ${shortened(value, longestValue)}`];
  });
}

/** A change as markup: the old value struck out, then the new one. */
function fromToMarkup(change: FieldChange): Markup {
  const { old, new: is } = wordsOf(change);
  return [oldValueMarkup(old), arrow, isolatedText('ins', is, change.new === '' ? 'cleared' : '')];
}

function oldValueMarkup(old: string | undefined): Markup {
  return old === undefined ? markup('span', { class: 'quiet unknown' }, '?') : isolatedText('del', old);
}

function wordsOf({ old, new: is }: FieldChange): { readonly old: string | undefined; readonly new: string } {
  return { old: old === '' ? '(empty)' : old, new: is === '' ? '(cleared)' : is };
}

/** The warnings about the field of a line. Warnings about the whole row are in the row's first line. */
function warningsIn({ warnings, changes }: PlanPageRow, part: number): readonly string[] {
  const field = changes[part]?.field;
  const named = new Set(changes.map((change) => change.field));
  return (warnings ?? [])
    .filter((warning) =>
      warning.field === undefined || !named.has(warning.field) ? part === 0 : warning.field === field,
    )
    .map(({ field: about, text }) => (about === undefined || about === field ? text : `${about}: ${text}`));
}

/** A text in an element of its own, so that its letters, from right to left or not, change the order of nothing else. */
function isolatedText(name: 'del' | 'ins' | 'span', text: string, className = ''): Markup {
  return markup(
    name,
    { dir: 'auto', ...(className !== '' && { class: className }) },
    shortened(text, longestValue),
  );
}
