import { escapeInvisible } from '../../base/text/printable.ts';
import type { ScanSummary } from '../../engine/manifest/check/scan.ts';
import type { CallableRow } from '../../engine/rows/row.ts';
import { changesOf } from '../../engine/rows/row-kind.ts';
import { cutInTheMiddle, styled } from './style.ts';
import { defaultColumns, indentedLine, indentedText, moreText, table } from './words.ts';

const mostRows = 10;
/** The most rows of an operation that changes no fields, as a restore: they mostly differ only in their identifiers. */
const mostAlikeRows = 5;
const mostLines = 20;
const mostFields = 8;
/** The columns for an old and a new value. With less than the first, an identifier is cut; with less than the second, there is no table. */
const fullChangeColumns = 30;
const leastChangeColumns = 20;
const leastEntryColumns = 12;

/**
 * The first rows that are called, and what becomes of their entries: a table of row, entry, field, old and new value. On a narrow
 * screen, each row has lines of its own.
 *
 * @param columns of the screen
 * @param allRows says where the other rows are
 */
export function firstRowsText(
  { preview, callable, perOperation }: Pick<ScanSummary, 'preview' | 'callable' | 'perOperation'>,
  columns = defaultColumns,
  allRows?: string,
): string {
  const shown = withinLines(firstOfEachOperation(preview).map(rowEffect));
  if (shown.length === 0) return '';
  const things = new Set(shown.map(({ thing }) => thing));
  const [onlyThing] = things.size === 1 ? things : [];
  const knowsOld = shown.some(({ effects }) => effects.some(({ old }) => old !== undefined));
  const style = { columns, onlyThing, knowsOld };
  const lines = tableLines(shown, style) ?? shown.flatMap((row) => narrowLines(row, style));
  const more = callable - shown.length;
  const where = allRows === undefined ? '' : ` (${allRows})`;
  return indentedText([
    ...lines,
    ...(more > 0 ? [othersText(more, lastRowUnlessShown(perOperation, shown)) + where] : []),
  ]);
}

/** The first rows of each operation, in the manifest's order: a table with the rows of one operation would hide the others. */
function firstOfEachOperation(rows: readonly CallableRow[]): readonly CallableRow[] {
  const operations = new Set(rows.map(({ operation }) => operation.name)).size;
  const share = Math.max(2, Math.floor(mostRows / operations));
  const shown = new Map<string, number>();
  return rows.filter(({ operation }) => {
    const rank = (shown.get(operation.name) ?? 0) + 1;
    shown.set(operation.name, rank);
    return rank <= (hasChangeableFields(operation) ? share : Math.min(share, mostAlikeRows));
  });
}

interface LastRow {
  readonly thing: string;
  readonly row: number;
  readonly subject: string;
}

/** The last row of the plan. Undefined if the table shows it. */
function lastRowUnlessShown(
  perOperation: ScanSummary['perOperation'],
  shown: readonly RowEffect[],
): LastRow | undefined {
  const [last] = Object.values(perOperation)
    .flatMap(({ thing, last }) => (last === undefined ? [] : [{ thing, ...last }]))
    .toSorted((a, b) => b.row - a.row);
  return shown.some(({ row }) => row === last?.row) ? undefined : last;
}

/** The line below the first rows: `… and 394 more rows, the last is row 404, evaluation 616` */
function othersText(more: number, last: LastRow | undefined): string {
  const which =
    last === undefined ? '' : `, the last is row ${last.row}, ${last.thing} ${cutInside(last.subject, 40)}`;
  return `${moreText(more, 'row')}${which}`;
}

interface RowEffect {
  readonly row: number;
  readonly thing: string;
  readonly subject: string;
  /** What the call of a row does: at least one effect. */
  readonly effects: readonly Effect[];
}

/** What a call does to its entry, or to one of its fields. */
interface Effect {
  /** The name of a changed field, or what becomes of the entry: `restored`. */
  readonly changedName: string;
  readonly isField: boolean;
  readonly old?: string | undefined;
  readonly value?: string | undefined;
}

function rowEffect(call: CallableRow): RowEffect {
  const { row, operation, subject, values } = call;
  const { thing, done = operation.name } = operation;
  const fields: readonly Effect[] = changesOf(call).map(({ field, old, new: value }) => ({
    changedName: field,
    isField: true,
    old,
    value,
  }));
  if (fields.length === 0) {
    // A row of an operation that can change no fields has one line, with all its values.
    const others = Object.entries(values)
      .filter(([name]) => name !== operation.subject && !hasChangeableFields(operation))
      .map(([name, value]) => `${name} ${quotedValue(value)}`);
    return {
      row,
      thing,
      subject,
      effects: [{ changedName: done, isField: false, value: others.join(', ') }],
    };
  }
  const more = fields.length - mostFields;
  const effects =
    more > 1 ? [...fields.slice(0, mostFields), { changedName: moreText(more), isField: false }] : fields;
  return { row, thing, subject, effects };
}

function hasChangeableFields({ fields }: CallableRow['operation']): boolean {
  return fields.some(({ required }) => !required);
}

/** As many whole rows as fit into the lines of the table, at least one. */
function withinLines(rows: readonly RowEffect[]): readonly RowEffect[] {
  let lines = 0;
  return rows.filter(({ effects }, index) => {
    lines += effects.length;
    return index === 0 || lines <= mostLines;
  });
}

interface TableStyle {
  readonly columns: number;
  /** The kind of entry, if all shown rows act on the same kind. */
  readonly onlyThing: string | undefined;
  readonly knowsOld: boolean;
}

const columnGap = 2;

/** The rows as a table. Undefined if the screen is too narrow. */
function tableLines(
  rows: readonly RowEffect[],
  { columns, onlyThing, knowsOld }: TableStyle,
): readonly string[] | undefined {
  const hasFields = rows.some(({ effects }) => effects.some(({ isField }) => isField));
  const header = [
    'row',
    onlyThing ?? 'entry',
    hasFields ? 'field' : '',
    hasFields ? (knowsOld ? 'old → new' : 'new value') : '',
  ] as const;
  const rowWidth = Math.max('row'.length, ...rows.map(({ row }) => String(row).length));
  const mostOfWhat = Math.max(16, Math.floor(columns / 4));
  const whats = rows.map(({ effects }) =>
    effects.map(({ changedName }) => cutInside(changedName, mostOfWhat)),
  );
  const whatWidth = Math.max(header[2].length, ...whats.flat().map(({ length }) => length));
  const forEntryAndChange = columns - rowWidth - whatWidth - 4 * columnGap;
  const entries = rows.map(({ thing, subject }) =>
    cutInside(
      onlyThing === undefined ? `${thing} ${subject}` : subject,
      Math.max(leastEntryColumns, forEntryAndChange - fullChangeColumns),
    ),
  );
  const room = forEntryAndChange - Math.max(header[1].length, ...entries.map(({ length }) => length));
  if (room < leastChangeColumns) return undefined;
  const lines = rows.flatMap(({ row, effects }, rowIndex) =>
    effects.map((effect, index) => [
      index === 0 ? String(row) : '',
      index === 0 ? (entries[rowIndex] ?? '') : '',
      whats[rowIndex]?.[index] ?? '',
      changeText(effect, room, knowsOld),
    ]),
  );
  return table([header.map((title) => styled('dim', title)), ...lines], [0]);
}

function narrowLines(
  { row, thing, subject, effects }: RowEffect,
  { columns, knowsOld }: TableStyle,
): readonly string[] {
  const head = `row ${row}, `;
  const entry = cutInside(`${thing} ${subject}`, columns - columnGap - head.length);
  const lines = effects.map((effect) => {
    const what = cutInside(effect.changedName, Math.floor(columns / 2));
    const room = Math.max(leastChangeColumns / 2, columns - 2 * columnGap - what.length - 1);
    return indentedLine(`${what} ${changeText(effect, room, knowsOld)}`.trimEnd());
  });
  return [head + entry, ...lines];
}

/** The change of a field: `"Recording 4" → "Greeting"`, `? → "Greeting"`, `"Greeting"` */
function changeText({ isField, old, value }: Effect, room: number, knowsOld: boolean): string {
  if (value === undefined) return '';
  if (!isField) return cutEnd(value, room);
  if (!knowsOld) return styled('green', quotedValue(value, room));
  if (old === undefined) return `? → ${styled('green', quotedValue(value, room - 4))}`;
  if (old === value) return styled('dim', `${quotedValue(value, room - 12)} (unchanged)`);
  const half = Math.floor((room - 3) / 2);
  const isCut = [old, value].some((text) => quotedValue(text, room).length > half);
  const from = isCut ? differenceOf(old, value, half) : 0;
  const [before, after] = [quotedValue(old, room, from), quotedValue(value, room, from)];
  const left = Math.min(before.length, Math.max(half, room - 3 - after.length));
  const right = Math.min(after.length, room - 3 - left);
  return `${styled('red', quotedValue(old, left, from))} → ${styled('green', quotedValue(value, right, from))}`;
}

/** How many characters are shown before the first difference of two texts. */
const charactersBeforeDifference = 6;
const quotesAndDots = 3;
/** The most characters of a text that are looked at. More would be slow, and no screen has room for them. */
const mostCharacters = 10_000;

/** The character from which two long texts are shown, so that their first difference is seen in `room` columns. */
function differenceOf(one: string, other: string, room: number): number {
  const [characters, others] = [charactersOf(one), charactersOf(other)];
  const found = characters.findIndex((character, index) => character !== others[index]);
  const first = found < 0 ? characters.length : found;
  if (first + charactersBeforeDifference < room) return 0;
  // For a difference near the end of the texts, more is shown before the difference, to fill the room.
  const longest = Math.max(characters.length, others.length);
  return Math.max(0, Math.min(first - charactersBeforeDifference, longest - room + quotesAndDots));
}

/** A value in quotes, on one line of at most `room` columns. */
function quotedValue(value: string, room = 60, from = 0): string {
  if (value === '') return '(empty)';
  const shown = from === 0 ? value : `…${charactersOf(value).slice(from).join('')}`;
  return `"${cutEnd(shown, room - 2)}"`;
}

function cutEnd(text: string, room: number): string {
  const line = lineOf(text);
  // A cut may split a character: leave out its first half.
  return line.length <= room ? line : `${line.slice(0, Math.max(0, room - 1)).replace(/\p{Cs}$/u, '')}…`;
}

/** Cuts the middle of an identifier: its two ends distinguish it from others. */
function cutInside(text: string, room: number): string {
  return cutInTheMiddle(room, lineOf(text));
}

function lineOf(text: string): string {
  return escapeInvisible(text.slice(0, mostCharacters));
}

function charactersOf(text: string): readonly string[] {
  return [...text.slice(0, mostCharacters)];
}
