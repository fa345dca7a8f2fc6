import type { Outcome } from '../domain.ts';
import { byteOrderMark, csvText } from '../report/csv-text.ts';
import {
  type ColumnValues,
  decodeNumbers,
  decodeTexts,
  type PageColumn,
  type PageContent,
} from '../report/html/page-data.ts';
import type { FactColumn } from '../report/html/row-columns.ts';
import { guardColumn, unguardCell } from '../text/formula-guard.ts';

/** A column of the table. */
export interface Column {
  readonly title: string;
  /** A fact of the row, a result column of its operation, or a cell of the manifest. */
  readonly kind: PageColumn['kind'];
  readonly name: string;
  readonly isNumber: boolean;
  readonly role: PageColumn['role'];
  /** Whether no row has a value. */
  readonly isEmpty: boolean;
  /** The number of characters of the longest text. */
  readonly width: number;
  /** The text shown for a row. */
  text(row: number): string;
  /** For sorting. */
  key(row: number): string | number;
  matches(pattern: RegExp): Uint8Array;
  /** The text as written, for the export. */
  raw(row: number): string;
}

/** The filter and order of the rows. */
export interface Selection {
  readonly query: string;
  /** Empty keeps any outcome. */
  readonly outcomes: readonly Outcome[];
  /** Whether to keep only unclear rows. */
  readonly unclear: boolean;
  /** Empty keeps any code; `operation` likewise. */
  readonly code: string;
  readonly operation: string;
  readonly sortBy?: Column | undefined;
  readonly descending: boolean;
}

export const everything: Selection = {
  query: '',
  outcomes: [],
  unclear: false,
  code: '',
  operation: '',
  descending: false,
};

/** The rows of the report. */
export class Rows {
  readonly count: number;
  readonly columns: readonly Column[];
  readonly #facts: ReadonlyMap<string, Column>;

  private constructor(count: number, columns: readonly Column[]) {
    this.count = count;
    this.columns = columns;
    this.#facts = new Map(
      columns.filter(({ kind }) => kind === 'fact').map((column) => [column.name, column]),
    );
  }

  /** Undefined when the page has no rows. */
  static async read({ data, pieces }: PageContent): Promise<Rows | undefined> {
    const { selection, count, columns, clearToken } = data.rows;
    if (selection === 'none') return undefined;
    const read = await Promise.all(
      columns.map(async (column) =>
        columnOf(column, await inflated(pieces[column.piece] ?? ''), count, clearToken),
      ),
    );
    return new Rows(count, read);
  }

  /** The column of these rows that matches a column of other rows. */
  like(other: Column): Column | undefined {
    return this.columns.find(({ kind, name }) => kind === other.kind && name === other.name);
  }

  fact(name: FactColumn): Column {
    const column = this.#facts.get(name);
    if (column === undefined) throw new Error(`There is no column ${name}.`);
    return column;
  }

  /** The index of the row with this number; -1 when it is missing. */
  placeOf(number: number): number {
    const column = this.fact('row');
    for (let row = 0; row < this.count; row += 1) if (column.key(row) === number) return row;
    return -1;
  }

  /** A number of a row; undefined when unknown. */
  number(name: FactColumn, row: number): number | undefined {
    const value = this.fact(name).key(row);
    return typeof value === 'number' && !Number.isNaN(value) ? value : undefined;
  }

  /** The indices of the selected rows, in order. */
  select({ query, outcomes, unclear, code, operation, sortBy, descending }: Selection): Uint32Array {
    const wanted = new Uint8Array(this.count).fill(1);
    const keep = (column: Column, isWanted: (text: string) => boolean): void => {
      for (let row = 0; row < this.count; row += 1)
        if (wanted[row] === 1 && !isWanted(column.text(row))) wanted[row] = 0;
    };
    const wantedOutcomes: readonly string[] = outcomes;
    if (outcomes.length > 0) keep(this.fact('outcome'), (text) => wantedOutcomes.includes(text));
    if (unclear) keep(this.fact('unclear'), (text) => text !== '');
    if (code !== '') keep(this.fact('code'), (text) => text === code);
    if (operation !== '') keep(this.fact('operation'), (text) => text === operation);
    if (query !== '') this.#keepMatching(query, wanted);
    const rows = Uint32Array.from(indicesOf(wanted));
    const column = sortBy && this.like(sortBy);
    if (column === undefined) return descending ? rows.reverse() : rows;
    return sorted(rows, column, descending);
  }

  #keepMatching(query: string, wanted: Uint8Array): void {
    const pattern = new RegExp(query.replace(/[\\^$.*+?()[\]{}|/]/g, '\\$&'), 'giu');
    const found = new Uint8Array(this.count);
    for (const column of this.columns) {
      if (
        column.name === 'earlier' ||
        column.name === 'request' ||
        (column.isNumber && column.name !== 'row')
      )
        continue;
      const matches = column.matches(pattern);
      for (let row = 0; row < found.length; row += 1) if (matches[row] === 1) found[row] = 1;
    }
    for (let row = 0; row < found.length; row += 1) if (found[row] === 0) wanted[row] = 0;
  }
}

/** Rows as a manifest for `cqbatch run`. Cells are guarded against formulas, and a column says so. */
export function refeedCsv(rows: Rows, selected: Uint32Array): string {
  const cells = rows.columns.filter(({ kind }) => kind === 'cell');
  const columns = [...cells, rows.fact('row'), rows.fact('code')];
  const records = [
    [...cells.map(({ name }) => name), '_row', '_code', guardColumn(',')],
    ...Array.from(selected, (row) => [...columns.map((column) => column.raw(row)), 'yes']),
  ];
  return byteOrderMark + csvText(records);
}

function* indicesOf(flags: Uint8Array): Generator<number> {
  for (let index = 0; index < flags.length; index += 1) if (flags[index] === 1) yield index;
}

/** Identifiers and other whole numbers; longer ones sort as text. */
const digits = /^\d{0,19}$/;

/** Sorts rows. Missing values come last in both directions. When all texts are whole numbers, they sort as numbers. */
function sorted(rows: Uint32Array, column: Column, descending: boolean): Uint32Array {
  const keys: (string | number)[] = [];
  for (const row of rows) keys[row] = column.key(row);
  if (!column.isNumber && rows.every((row) => digits.test(String(keys[row]))))
    for (const row of rows) keys[row] = wholeNumberKey(String(keys[row]));
  const sign = descending ? -1 : 1;
  return rows.sort((a, b) => {
    const [left, right] = [keys[a] ?? '', keys[b] ?? ''];
    const [lacksLeft, lacksRight] = [isMissing(left), isMissing(right)];
    if (lacksLeft || lacksRight) return Number(lacksLeft) - Number(lacksRight) || a - b;
    return left < right ? -sign : left > right ? sign : a - b;
  });
}

/** A number, which compares faster; where that would be inexact, a text of fixed length. */
function wholeNumberKey(text: string): string | number {
  if (text === '') return text;
  return text.length > 15 ? text.padStart(19, '0') : Number(text);
}

function isMissing(key: string | number): boolean {
  return key === '' || Number.isNaN(key);
}

async function inflated(base64: string): Promise<ColumnValues<never>> {
  const binary = atob(base64);
  const bytes = new Uint8Array(binary.length);
  for (let index = 0; index < binary.length; index += 1) bytes[index] = binary.charCodeAt(index);
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream('deflate-raw'));
  return (await new Response(stream).json()) as ColumnValues<never>;
}

const titles: Readonly<Record<string, string>> = {
  row: 'Row',
  operation: 'Operation',
  outcome: 'Outcome',
  code: 'Code',
  message: 'Message',
  status: 'HTTP',
  attempts: 'Attempts',
  unclear: 'Unclear',
  started: 'Started',
  duration: 'Duration',
};

function columnOf(
  { kind, name, type, role }: PageColumn,
  values: ColumnValues<never>,
  count: number,
  clearToken: string,
): Column {
  // Cells of the manifest and the names of their columns are guarded.
  const shown = (text: string): string => (kind === 'cell' ? unguardCell(text, { clearToken }) : text);
  const common = { kind, name, role, title: kind === 'fact' ? (titles[name] ?? name) : shown(name) };
  if (type === 'text') {
    const texts = decodeTexts(values, count);
    const raw = (row: number): string => texts.at(row);
    const text = (row: number): string => shown(texts.at(row));
    const { longest: width, matches } = texts;
    return { ...common, isNumber: false, isEmpty: width === 0, width, text, raw, key: text, matches };
  }
  const { values: numbers, largest } = decodeNumbers(values, count);
  const key = (row: number): number => numbers[row] ?? Number.NaN;
  const text = (row: number): string => (Number.isNaN(key(row)) ? '' : String(key(row)));
  const matches = (pattern: RegExp): Uint8Array =>
    Uint8Array.from(numbers, (_, row) => (text(row).search(pattern) < 0 ? 0 : 1));
  const width = largest < 0 ? 0 : String(largest).length;
  return { ...common, isNumber: true, isEmpty: largest < 0, width, text, raw: text, key, matches };
}
