import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import { guardCell } from '../../../base/text/formula-guard.ts';
import type { RowResult } from '../../../domain/row-result.ts';
import { fieldNameOf } from '../../operation/field-names.ts';
import type { Operation } from '../../operation/operation.ts';
import { headerLines } from '../../operation/request-definition.ts';
import type { CallableRow, PlannedRow } from '../../rows/row.ts';
import type { ReportLine } from '../join-results.ts';
import { type RefeedOptions, RefeedRows } from '../refeed.ts';
import { columnsOf, messageOf } from '../report-columns.ts';
import type { PageColumn, PageContent, PageValue, ReportedOperation, RowPortion } from './page-data.ts';
import { outcomesInNeed } from './verdict.ts';

const usualMostRows = 200_000;
/** The page fits into an e-mail. Base64 makes four bytes of three. */
const mostBytes = (20_000_000 * 3) / 4;
/** This many rows or characters are gzipped together. */
const portionRows = 1_000;
const portionCharacters = 1_000_000;

export interface PackOptions {
  readonly refeed: Omit<RefeedOptions, 'guard'>;
  readonly operations: readonly ReportedOperation[];
  /** Undefined if the row's operation is not loaded. */
  readonly requestOf: (row: CallableRow) => ReturnType<Operation['request']> | undefined;
  readonly mostRows?: number;
}

/** Packs first the rows that the reader should look at, then the others until the page is full. */
export class PackedRows {
  readonly columns: readonly PageColumn[];
  readonly #refeed: RefeedRows;
  readonly #resultColumns: readonly string[];
  readonly #mostRows: number;
  readonly #requestOf: PackOptions['requestOf'];
  readonly #first = new Pack();
  readonly #rest = new Pack();

  constructor({ refeed, operations, requestOf, mostRows = usualMostRows }: PackOptions) {
    this.#mostRows = mostRows;
    this.#requestOf = requestOf;
    // As in the page's export, so that the page can distinguish an empty text from text that looks like the clear token.
    this.#refeed = new RefeedRows({ ...refeed, guard: guardCell });
    this.#resultColumns = columnsOf(operations);
    this.columns = [
      ...[...Object.keys(facts), 'request'].map((name) => ({ kind: 'fact', name }) as const),
      ...this.#resultColumns.map((name) => ({ kind: 'result', name }) as const),
      ...this.#refeed.header.map((name) => cellColumn(name, operations)),
    ];
  }

  async add(lines: readonly ReportLine[]): Promise<void> {
    const [first, rest] = [this.#first, this.#rest];
    for (const line of lines) {
      if (this.#isFull(first.rows, first.bytes)) return;
      const isFirst = comesFirst(line.result);
      if (!isFirst && this.#isFull(first.rows + rest.rows, first.bytes + rest.bytes)) continue;
      const pack = isFirst ? first : rest;
      pack.push(this.#valuesOf(line));
      if (pack.hasPortion) await pack.close();
    }
  }

  /** @returns base64; call this last */
  async end(): Promise<PageContent['portions']> {
    await this.#first.close();
    await this.#rest.close();
    const portions: string[] = [];
    let [rows, size] = [0, 0];
    for (const portion of [...this.#first.portions, ...this.#rest.portions]) {
      rows += portion.rows;
      size += portion.bytes.length;
      if (rows > this.#mostRows || size > mostBytes) break;
      portions.push(portion.bytes.toString('base64'));
    }
    return portions;
  }

  #isFull(rows: number, bytes: number): boolean {
    return rows >= this.#mostRows || bytes >= mostBytes;
  }

  #valuesOf(line: ReportLine): readonly PageValue[] {
    const { row, result } = line;
    return [
      ...Object.values<Fact>(facts).map((fact) => fact(result) ?? null),
      showsRequest(result) ? this.#requestText(row) : '',
      ...this.#resultColumns.map((name) => result.columns?.[name] ?? ''),
      ...this.#refeed.cells(row, result.operation).cells,
    ];
  }

  #requestText(row: PlannedRow): string {
    const request = row.kind === 'callable' ? this.#requestOf(row) : undefined;
    if (request === undefined) return '';
    const { method = 'POST', path, body } = request;
    return [`${method} ${path}`, ...headerLines(request), body].join('\n').trimEnd();
  }
}

function comesFirst({ outcome, unclear }: RowResult): boolean {
  return unclear || outcomesInNeed.includes(outcome);
}

/** Whether the request was sent, and may not have succeeded. */
function showsRequest({ outcome, attempts, unclear }: RowResult): boolean {
  return attempts > 0 && (outcome !== 'succeeded' || unclear);
}

type Fact = (result: RowResult) => string | number | undefined;

/** Times are milliseconds since 1970. */
const facts = {
  row: ({ row }) => row,
  operation: ({ operation }) => operation,
  outcome: ({ outcome }) => outcome,
  code: ({ code }) => code,
  message: messageOf,
  status: ({ httpStatus }) => httpStatus,
  attempts: ({ attempts }) => attempts,
  unclear: ({ unclear }) => (unclear ? 'unclear' : ''),
  started: ({ startedAt }) => timeOf(startedAt),
  duration: ({ durationMs }) => rounded(durationMs),
  /** The start of the last attempt, when there were others. */
  lastStarted: ({ earlier, finishedAt, durationMs }) => {
    const [finished, duration] = [timeOf(finishedAt), rounded(durationMs)];
    if (earlier === undefined || finished === undefined || duration === undefined) return undefined;
    return finished - duration;
  },
  duplicateOf: ({ duplicateOf }) => duplicateOf,
  earlier: ({ earlier }) => earlier && JSON.stringify(earlier),
  requestId: (result) => (showsRequest(result) ? result.requestId : undefined),
} satisfies Readonly<Record<string, Fact>>;

export type FactColumn = keyof typeof facts | 'request';

/** @param name the title of a column, which must match its field without `--map` */
function cellColumn(name: string, operations: readonly ReportedOperation[]): PageColumn {
  const field = fieldNameOf(name);
  const isSubject = operations.some(({ subject }) => subject === field);
  const role = isSubject ? 'subject' : field === 'operation' && 'operation';
  return { kind: 'cell', name, ...(role && { role }) };
}

function rounded(ms: number | undefined): number | undefined {
  return ms === undefined ? undefined : Math.max(0, Math.round(ms));
}

function timeOf(iso: string | undefined): number | undefined {
  const time = iso === undefined ? Number.NaN : Date.parse(iso);
  return Number.isNaN(time) ? undefined : time;
}

const gzipped = promisify(gzip);

/** A `RowPortion` as gzipped JSON. */
interface Portion {
  readonly rows: number;
  readonly bytes: Buffer;
}

/** Memory grows with the compressed size. */
class Pack {
  readonly portions: Portion[] = [];
  #open: (readonly PageValue[])[] = [];
  #characters = 0;
  rows = 0;
  bytes = 0;

  push(values: readonly PageValue[]): void {
    this.#open.push(values);
    this.#characters += values.reduce<number>((sum, value) => sum + String(value).length, 0);
    this.rows += 1;
  }

  get hasPortion(): boolean {
    return this.#open.length >= portionRows || this.#characters >= portionCharacters;
  }

  async close(): Promise<void> {
    const [first] = this.#open;
    if (first === undefined) return;
    const portion: RowPortion = first.map((_, place) => this.#open.map((values) => values[place] ?? null));
    const bytes = await gzipped(JSON.stringify(portion));
    this.portions.push({ rows: this.#open.length, bytes });
    this.bytes += bytes.length;
    this.#open = [];
    this.#characters = 0;
  }
}
