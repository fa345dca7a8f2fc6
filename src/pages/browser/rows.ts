import { exactDuration } from '../../base/text/format.ts';
import { unguardCell } from '../../base/text/formula-guard.ts';
import { localTime } from '../../base/text/local-time.ts';
import { outcomeText } from '../../domain/terms.ts';
import { messageKind } from '../../engine/report/html/message-kind.ts';
import type { FactColumn } from '../../engine/report/html/packed-rows.ts';
import type { PageColumn, PageContent, PageValue } from '../../engine/report/html/page-data.ts';
import { type Column, searchOf, sorted, unpackedPortion } from './column.ts';

export interface ReportColumn extends Column {
  /** The text of a row as written, for the export. */
  rawText(row: number): string;
}

/** The rows that the reader wants to see. A member that is empty or absent excludes no row. */
export interface Selection {
  /** Words that a row must have, each in any column. Words in quotes belong together. */
  readonly q?: string;
  readonly keeps?: (outcome: string, code: string, unclear: boolean) => boolean;
  readonly code?: string;
  /** The message that a row must have, as a `messageKind`. */
  readonly message?: string;
  readonly operation?: string;
  readonly sortBy?: Column | undefined;
  readonly isDescending?: boolean;
}

/** Facts that only the details of a row have. */
const factsInDetailsOnly: ReadonlySet<string> = new Set<FactColumn>([
  'lastStarted',
  'earlier',
  'duplicateOf',
  'changes',
]);

/** The rows of a report. */
export class Rows {
  readonly count: number;
  readonly columns: readonly ReportColumn[];

  private constructor(count: number, columns: readonly ReportColumn[]) {
    this.count = count;
    this.columns = columns;
  }

  static async read({ data, portions }: PageContent): Promise<Rows> {
    const { columns, clearToken } = data.rows;
    const unpacked = await Promise.all(portions.map((portion) => unpackedPortion<PageValue>(portion)));
    // This is a loop, because `flatMap` is much slower with a million rows.
    const valuesOf = (index: number): readonly PageValue[] =>
      ([] as PageValue[]).concat(...unpacked.map((portion) => portion[index] ?? []));
    const numbers = valuesOf(columns.findIndex(({ kind, name }) => kind === 'fact' && name === 'row'));
    // Sort the rows as in the manifest: portions begin with the rows that need the reader.
    const order = [...numbers.keys()].sort((a, b) => Number(numbers[a]) - Number(numbers[b]));
    const read = columns.map((column, columnIndex) => {
      const values = valuesOf(columnIndex);
      const inOrder = order.map((index) => values[index] ?? null);
      return columnOf(column, inOrder, clearToken);
    });
    return new Rows(order.length, read);
  }

  factColumn(name: FactColumn): ReportColumn {
    const column = this.columns.find(({ id }) => id === `fact ${name}`);
    if (column === undefined) throw new Error(`There is no column ${name}.`);
    return column;
  }

  /** The index of the row with this number, or -1. */
  indexOf(number: number): number {
    const column = this.factColumn('row');
    for (let row = 0; row < this.count; row += 1) if (column.key(row) === number) return row;
    return -1;
  }

  number(name: FactColumn, row: number): number | undefined {
    const value = this.factColumn(name).key(row);
    return typeof value === 'number' ? value : undefined;
  }

  /** The indexes of selected rows, in order. */
  select({ q = '', keeps, code, message, operation, sortBy, isDescending = false }: Selection): Uint32Array {
    const [outcomes, codes, unclear] = [
      this.factColumn('outcome'),
      this.factColumn('code'),
      this.factColumn('unclear'),
    ];
    const [messages, operations] = [this.factColumn('message'), this.factColumn('operation')];
    const searched = this.columns.filter(
      ({ kind, name }) => kind !== 'fact' || !factsInDetailsOnly.has(name),
    );
    const isFound = searchOf(q, searched);
    const rows = Uint32Array.from({ length: this.count }, (_, row) => row).filter(
      (row) =>
        (keeps === undefined || keeps(outcomes.text(row), codes.text(row), unclear.text(row) !== '')) &&
        (!code || codes.text(row) === code) &&
        (!message || messageKind(messages.text(row)) === message) &&
        (!operation || operations.text(row) === operation) &&
        isFound(row),
    );
    return sorted(rows, sortBy, isDescending);
  }
}

function columnOf(column: PageColumn, values: readonly PageValue[], clearToken: string): ReportColumn {
  const { kind, name } = column;
  // Only cells of the manifest and the names of their columns are guarded.
  const unguarded = (text: string): string => (kind === 'cell' ? unguardCell(text, { clearToken }) : text);
  const rawText = (row: number): string => String(values[row] ?? '');
  const text = (row: number): string => unguarded(rawText(row));
  const shownText = kind === 'fact' ? (written: string) => shownFact(name, written) : unguarded;
  const isNumber = values.some((value) => typeof value === 'number');
  const longest = values.reduce<string>(
    (most, value) => (String(value ?? '').length > most.length ? String(value) : most),
    '',
  );
  const id = `${kind} ${name}`;
  return {
    ...column,
    id,
    title: kind === 'fact' ? titleOf(name) : unguarded(name),
    isNumber,
    ...(id in looksOfColumns && { look: looksOfColumns[id] }),
    width: shownText(longest).length,
    text,
    shown: (row) => shownText(rawText(row)),
    key: isNumber ? (row) => values[row] ?? '' : text,
    rawText,
  };
}

const looksOfColumns: Readonly<Record<string, Column['look']>> = {
  'fact outcome': 'chip',
  'fact message': 'long',
};

/** `Rate wait` for the column `rate_wait_ms`. */
function titleOf(fact: string): string {
  const words = fact.replace(/_ms$/, '').replaceAll('_', ' ');
  return fact === 'status' ? 'HTTP' : `${words.slice(0, 1).toUpperCase()}${words.slice(1)}`;
}

function shownFact(name: string, text: string): string {
  if (text === '') return text;
  if (name === 'outcome') return outcomeText(text);
  if (name === 'started') return localTime(Number(text));
  return name === 'duration' || name.endsWith('_ms') ? exactDuration(Number(text)) : text;
}
