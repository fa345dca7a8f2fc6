import type { CodeAdvice } from '../../codes.ts';
import type { RatePoint } from '../rate-history.ts';
import type { RunSummary } from '../summary.ts';

/** What a page shows of a run: facts, and the rows by columns, each compressed by itself. Written by Node, read by the page. */
export interface PageContent {
  readonly data: PageData;
  /** What columns name: deflated (RFC 1951), in base64. */
  readonly pieces: Readonly<Record<string, string>>;
}

/** The facts of a run. */
export interface PageData {
  readonly version: 1;
  readonly run: PageRun;
  readonly summary: RunSummary;
  /** Why rows ended as they did, by code. */
  readonly advice: Readonly<Record<string, CodeAdvice>>;
  readonly rate: readonly RatePoint[];
  readonly latency: LatencySeries;
  readonly rows: PageRows;
}

/** What was run, where, by whom and when. */
export interface PageRun {
  readonly id: string;
  readonly state: string;
  /** Why it is in that state, if that was noted. */
  readonly reason?: string;
  readonly baseUrl: string;
  readonly by?: string;
  /** Why it was run, if its user said so. */
  readonly purpose?: string;
  /** When this was written, ISO 8601 UTC. */
  readonly writtenAt: string;
}

/** How long calls took over time: a value for each stretch of the same length; null where none began. */
export interface LatencySeries {
  /** Milliseconds since 1970 of the first stretch; 0 when no call began. */
  readonly from: number;
  readonly stretchMs: number;
  /** Of all calls. */
  readonly slowestMs: number;
  readonly p50: readonly (number | null)[];
  readonly p90: readonly (number | null)[];
  readonly p99: readonly (number | null)[];
}

/** Which rows are inside: all; those that failed or are unclear, because all are too many; or none for the same reason. */
export type RowsInside = 'all' | 'troubled' | 'none';

export interface PageRows {
  readonly selection: RowsInside;
  /** How many are inside. */
  readonly count: number;
  readonly columns: readonly PageColumn[];
  /** Cells that read as "make this empty" when they are fed back. */
  readonly clearToken: string;
}

/**
 * A column of rows. Its piece is a JSON array: a value, then in brackets how many more rows have it, if any do. A number is how
 * much more it is than the one before, and null where a row has none.
 */
export interface PageColumn {
  readonly kind: 'fact' | 'result' | 'cell';
  /** Of a fact a `FactColumn`, of a cell its name in a manifest that feeds the rows back. */
  readonly name: string;
  readonly type: 'number' | 'text';
  readonly piece: string;
}

/** Writes the values of a column. */
export class ColumnWriter {
  #text = '[';
  #last: string | number | null | undefined;
  #more = 0;
  #separator = '';

  /** Characters that were not taken. */
  get length(): number {
    return this.#text.length;
  }

  push(value: string | number | null): void {
    if (value === this.#last) {
      this.#more += 1;
      return;
    }
    this.#endRun();
    this.#text += this.#separator + (typeof value === 'string' ? JSON.stringify(value) : String(value));
    this.#separator = ',';
    this.#last = value;
  }

  /** All that was written since this was called last. */
  take(): string {
    const taken = this.#text;
    this.#text = '';
    return taken;
  }

  /** What is left at the end. */
  end(): string {
    this.#endRun();
    return `${this.take()}]`;
  }

  #endRun(): void {
    if (this.#more > 0) this.#text += `,[${this.#more}]`;
    this.#more = 0;
  }
}

/** What the JSON of a column is. */
export type ColumnValues<Value> = readonly (Value | readonly [more: number])[];

/** Calls back with each value and the places of the rows that have it, the last one excluded. */
function forEachRun<Value>(
  values: ColumnValues<Value>,
  take: (value: Value, from: number, to: number) => void,
): void {
  let row = 0;
  for (const [index, value] of values.entries()) {
    if (isCount(value)) continue;
    const next = values[index + 1];
    const to = row + 1 + (next !== undefined && isCount(next) ? next[0] : 0);
    take(value, row, to);
    row = to;
  }
}

function isCount<Value>(value: Value | readonly [more: number]): value is readonly [more: number] {
  return Array.isArray(value);
}

/** Makes of numbers what a column has of them. */
export function numberChanges(): (value: number | undefined) => number | null {
  let before = 0;
  return (value) => {
    if (value === undefined) return null;
    const change = value - before;
    before = value;
    return change;
  };
}

/** @returns NaN for rows that have none */
export function decodeNumbers(values: ColumnValues<number | null>, count: number): Float64Array {
  const numbers = new Float64Array(count).fill(Number.NaN);
  let number = 0;
  forEachRun(values, (change, from, to) => {
    if (change !== null) for (let row = from; row < to; row += 1) numbers[row] = number += change;
  });
  return numbers;
}

/** A column of texts, one for each row. */
export interface Texts {
  at(row: number): string;
  /** Which rows have a text in which the pattern is found: 1 for each, else 0. */
  matches(pattern: RegExp): Uint8Array;
}

export function decodeTexts(values: ColumnValues<string>, count: number): Texts {
  const texts: string[] = [];
  const places = new Uint32Array(count);
  forEachRun(values, (text, from, to) => places.fill(texts.push(text) - 1, from, to));
  return {
    at: (row) => texts[places[row] ?? 0] ?? '',
    matches(pattern) {
      const found = texts.map((text) => (text.search(pattern) < 0 ? 0 : 1));
      return Uint8Array.from(places, (place) => found[place] ?? 0);
    },
  };
}
