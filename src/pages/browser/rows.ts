import { exactDuration } from '../../base/text/format.ts';
import { unguardCell } from '../../base/text/formula-guard.ts';
import { localTime } from '../../base/text/local-time.ts';
import { outcomeText } from '../../domain/terms.ts';
import { messagePattern } from '../../engine/report/html/message-groups.ts';
import type { FactColumn } from '../../engine/report/html/packed-rows.ts';
import type { PageColumn, PageContent, PageValue, RowPortion } from '../../engine/report/html/page-data.ts';

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
  /** The value as text. */
  text(row: number): string;
  /** The text as the page shows it. */
  shown(row: number): string;
  /** The value by which a row is sorted. */
  key(row: number): string | number;
  /** The text as written, for the export. */
  raw(row: number): string;
}

/** The filter and order of the rows. */
export interface Selection {
  /** Words that a row must have, each in any column. Words in quotes belong together. */
  readonly query: string;
  readonly keeps: (outcome: string, code: string, unclear: boolean) => boolean;
  /** `code`, `message` (as in a group of messages) and `operation`: empty keeps any. */
  readonly code: string;
  readonly message: string;
  readonly operation: string;
  readonly sortBy?: Column | undefined;
  readonly descending: boolean;
}

export const everything: Selection = {
  query: '',
  keeps: () => true,
  code: '',
  message: '',
  operation: '',
  descending: false,
};

/** Facts without a column of their own. They are part of the details of a row. */
const detailsOnly: ReadonlySet<string> = new Set<FactColumn>(['lastStarted', 'earlier', 'duplicateOf']);

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

  static async read({ data, portions }: PageContent): Promise<Rows> {
    const { columns, clearToken } = data.rows;
    const unpacked = await Promise.all(portions.map(unpackedPortion));
    // Much faster than `flatMap`.
    const valuesOf = (place: number): readonly PageValue[] =>
      ([] as PageValue[]).concat(...unpacked.map((portion) => portion[place] ?? []));
    const numbers = valuesOf(columns.findIndex(({ kind, name }) => kind === 'fact' && name === 'row'));
    // Portions begin with the rows that the reader should look at; `Rows` has the order of the manifest.
    const order = [...numbers.keys()].sort((a, b) => Number(numbers[a]) - Number(numbers[b]));
    const read = columns.map((column, place) => {
      const values = valuesOf(place);
      const inOrder = order.map((index) => values[index] ?? null);
      return columnOf(column, inOrder, clearToken);
    });
    return new Rows(order.length, read);
  }

  /** The column that corresponds to a column of an older `Rows`, if any. */
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
    return typeof value === 'number' ? value : undefined;
  }

  /** The indices of the selected rows, in order. */
  select({ query, keeps, code, message, operation, sortBy, descending }: Selection): Uint32Array {
    const [outcomes, codes, unclear] = [this.fact('outcome'), this.fact('code'), this.fact('unclear')];
    const wanted = [(row: number) => keeps(outcomes.text(row), codes.text(row), unclear.text(row) !== '')];
    const want = (name: FactColumn, isWanted: (text: string) => boolean): void => {
      const column = this.fact(name);
      wanted.push((row) => isWanted(column.text(row)));
    };
    if (code !== '') want('code', (text) => text === code);
    if (message !== '') want('message', (text) => messagePattern(text) === message);
    if (operation !== '') want('operation', (text) => text === operation);
    for (const [, phrase, word = phrase] of query.matchAll(/"([^"]+)"|(\S+)/g))
      wanted.push(this.#search(word ?? ''));
    const rows = Uint32Array.from({ length: this.count }, (_, row) => row).filter((row) =>
      wanted.every((isWanted) => isWanted(row)),
    );
    const column = sortBy && this.like(sortBy);
    if (column === undefined) return descending ? rows.reverse() : rows;
    return sorted(rows, column, descending);
  }

  #search(word: string): (row: number) => boolean {
    const pattern = new RegExp(word.replace(/[\\^$.*+?()[\]{}|/]/g, '\\$&'), 'iu');
    const searched = this.columns.filter(({ kind, name }) => kind !== 'fact' || !detailsOnly.has(name));
    return (row) => searched.some((column) => pattern.test(column.shown(row)));
  }
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
    const [lacksLeft, lacksRight] = [left === '', right === ''];
    if (lacksLeft || lacksRight) return Number(lacksLeft) - Number(lacksRight) || a - b;
    return left < right ? -sign : left > right ? sign : a - b;
  });
}

/** A sort key: a number, which compares faster, or a text of fixed length where a number would be inexact. */
function wholeNumberKey(text: string): string | number {
  if (text === '') return text;
  return text.length > 15 ? text.padStart(19, '0') : Number(text);
}

async function unpackedPortion(base64: string): Promise<RowPortion> {
  const binary = atob(base64);
  const bytes = Uint8Array.from({ length: binary.length }, (_, index) => binary.charCodeAt(index));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream('gzip'));
  return (await new Response(stream).json()) as RowPortion;
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
  { kind, name, role }: PageColumn,
  values: readonly PageValue[],
  clearToken: string,
): Column {
  // Cells of the manifest and the names of their columns are guarded.
  const shown = (text: string): string => (kind === 'cell' ? unguardCell(text, { clearToken }) : text);
  const raw = (row: number): string => String(values[row] ?? '');
  const text = (row: number): string => shown(raw(row));
  const isNumber = values.some((value) => typeof value === 'number');
  const width = values.reduce<number>((widest, _, row) => Math.max(widest, raw(row).length), 0);
  return {
    title: kind === 'fact' ? (titles[name] ?? name) : shown(name),
    kind,
    name,
    isNumber,
    role,
    isEmpty: width === 0,
    width,
    text,
    shown: kind === 'fact' ? (row) => shownFact(name, text(row)) : text,
    key: isNumber ? (row) => values[row] ?? '' : text,
    raw,
  };
}

function shownFact(name: string, text: string): string {
  if (text === '') return text;
  if (name === 'outcome') return outcomeText(text);
  if (name === 'started') return localTime(Number(text));
  return name === 'duration' ? exactDuration(Number(text)) : text;
}
