import type { CodeAdvice } from '../../codes.ts';
import type { PlannedOperation } from '../../rows/row.ts';
import type { RatePoint } from '../rate-history.ts';
import type { RunSummary } from '../summary.ts';

/** The content of report.html: facts, and the columns of the rows, each compressed. Written by Node, read by the page. */
export interface PageContent {
  readonly data: PageData;
  /** The values of the columns by name: deflated (RFC 1951), in base64. */
  readonly pieces: Readonly<Record<string, string>>;
}

/** The facts of a run. */
export interface PageData {
  readonly version: 1;
  readonly run: PageRun;
  readonly summary: RunSummary;
  /** The operations of the run, by name. */
  readonly operations: Readonly<Record<string, OperationWords>>;
  /** By code. */
  readonly advice: Readonly<Record<string, PageAdvice>>;
  readonly rate: readonly RatePoint[];
  readonly latency: LatencySeries;
  readonly rows: PageRows;
}

/** What the page needs to know of an operation. */
export type ReportedOperation = Pick<PlannedOperation, 'name' | 'thing' | 'done' | 'subject' | 'columns'>;

/** What an operation acts on, and what it has done to it. */
export type OperationWords = Pick<PlannedOperation, 'thing' | 'done'>;

export interface PageAdvice extends CodeAdvice {
  /** Whether a retry of the row may succeed. */
  readonly mayPass?: true;
}

/** The facts of a run that its summary lacks. */
export interface PageRun {
  readonly id: string;
  readonly state: string;
  /** Whether the run calls further rows by itself, or once it is resumed, or never. */
  readonly phase: 'in progress' | 'stopped' | 'ended';
  /** The command that continues a stopped run. */
  readonly resume: string;
  /** Why it is in this state, if known. */
  readonly reason?: string;
  readonly baseUrl: string;
  readonly by?: string;
  /** The `--reason` of the user. */
  readonly purpose?: string;
  /** Between its start and its end. */
  readonly stops: readonly PageStop[];
  /** When the page was written, ISO 8601 UTC. */
  readonly writtenAt: string;
}

/** A time in which a run was not in progress: paused, interrupted, halted or failed. */
export interface PageStop {
  /** ISO 8601 UTC. */
  readonly from: string;
  readonly to: string;
  readonly state: string;
  /** Why, if known. */
  readonly reason?: string;
}

/** Latency over time: a value for each stretch of equal length; null in a stretch without calls. */
export interface LatencySeries {
  /** Start of the first stretch, milliseconds since 1970; 0 without calls. */
  readonly from: number;
  readonly stretchMs: number;
  readonly p50: readonly (number | null)[];
  readonly p90: readonly (number | null)[];
  readonly p99: readonly (number | null)[];
}

/** The rows in the page. When all are too many, only those that did not succeed or are unclear, or none. */
export type RowsInside = 'all' | 'troubled' | 'none';

export interface PageRows {
  readonly selection: RowsInside;
  /** The number of rows in the page. */
  readonly count: number;
  readonly columns: readonly PageColumn[];
  /** The text of cells that clear their field when the rows are fed back. */
  readonly clearToken: string;
}

/**
 * A column of the rows. Its piece is a JSON array. A value may be followed by the number of further rows with the same value,
 * in brackets. A number is the difference from the previous number, and null in a row without one.
 */
export interface PageColumn {
  readonly kind: 'fact' | 'result' | 'cell';
  /** For a fact, a `FactColumn`; for a cell, its header in a manifest that feeds the rows back. */
  readonly name: string;
  readonly type: 'number' | 'text';
  /** Whether the cells identify what rows act on, or name the operation. */
  readonly role?: 'subject' | 'operation';
  readonly piece: string;
}

/** Writes the values of a column. */
export class ColumnWriter {
  #text = '[';
  #last: string | number | null | undefined;
  #more = 0;
  #separator = '';

  /** Characters not taken yet. */
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

  /** The text since the previous call. */
  take(): string {
    const taken = this.#text;
    this.#text = '';
    return taken;
  }

  /** The rest of the text. Call it last. */
  end(): string {
    this.#endRun();
    return `${this.take()}]`;
  }

  #endRun(): void {
    if (this.#more > 0) this.#text += `,[${this.#more}]`;
    this.#more = 0;
  }
}

/** The JSON of a column. */
export type ColumnValues<Value> = readonly (Value | readonly [more: number])[];

/** Calls back with each value and the range of its rows, the end excluded. */
function forEachRun<Value>(
  values: ColumnValues<Value>,
  take: (value: Value, from: number, to: number) => void,
): void {
  let row = 0;
  // A million values: an iterator would take twice as long.
  for (let index = 0; index < values.length; index += 1) {
    const value = values[index] as Value | readonly [more: number];
    if (isCount(value)) continue;
    const next = values[index + 1];
    const to = row + 1 + (isCount(next) ? next[0] : 0);
    take(value, row, to);
    row = to;
  }
}

function isCount(value: unknown): value is readonly [more: number] {
  return Array.isArray(value);
}

/** Turns the numbers of a column into differences. */
export function numberChanges(): (value: number | undefined) => number | null {
  let before = 0;
  return (value) => {
    if (value === undefined) return null;
    const change = value - before;
    before = value;
    return change;
  };
}

/** A column of numbers, one for each row. */
export interface Numbers {
  /** NaN for rows without a number. */
  readonly values: Float64Array;
  /** -1 without numbers. */
  readonly largest: number;
}

export function decodeNumbers(values: ColumnValues<number | null>, count: number): Numbers {
  const numbers = new Float64Array(count).fill(Number.NaN);
  let [number, largest] = [0, -1];
  forEachRun(values, (change, from, to) => {
    if (change === null) return;
    for (let row = from; row < to; row += 1) {
      numbers[row] = number += change;
      if (number > largest) largest = number;
    }
  });
  return { values: numbers, largest };
}

/** A column of texts, one for each row. */
export interface Texts {
  at(row: number): string;
  /** The number of characters of the longest text. */
  readonly longest: number;
  /** 1 for each row that matches the pattern, otherwise 0. */
  matches(pattern: RegExp): Uint8Array;
}

export function decodeTexts(values: ColumnValues<string>, count: number): Texts {
  const texts: string[] = [];
  const places = new Uint32Array(count);
  let longest = 0;
  forEachRun(values, (text, from, to) => {
    const place = texts.push(text) - 1;
    for (let row = from; row < to; row += 1) places[row] = place;
    if (text.length > longest) longest = text.length;
  });
  return {
    at: (row) => texts[places[row] ?? 0] ?? '',
    longest,
    matches(pattern) {
      const found = texts.map((text) => (text.search(pattern) < 0 ? 0 : 1));
      return Uint8Array.from(places, (place) => found[place] ?? 0);
    },
  };
}
