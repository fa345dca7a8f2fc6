import type { CodeAdvice } from '../../code-table.ts';
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
  /** Milliseconds since 1970 of the first stretch; 0 when there is none. */
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

/** What the page knows of a row, by the name of its column. */
export const factColumns = [
  'row',
  'operation',
  'outcome',
  'code',
  'message',
  'status',
  'attempts',
  'unclear',
  'started',
  'late',
  'duration',
  'duplicateOf',
  'earlier',
] as const;

export type FactColumn = (typeof factColumns)[number];

/** A column of rows; `parts` are the ids of its compressed pieces. */
export type PageColumn = {
  readonly kind: 'fact' | 'result' | 'cell';
  /** Of a fact one of `factColumns`, of a cell its name in a manifest that feeds the rows back. */
  readonly name: string;
} & (
  | { readonly type: 'number'; readonly parts: readonly [numbers: string] }
  | {
      readonly type: 'text';
      readonly parts: readonly [codes: string, integers: string, text: string];
    }
  | {
      readonly type: 'choice';
      readonly parts: readonly [numbers: string];
      readonly choices: readonly string[];
    }
);

/** Bytes that grow. */
export class ByteWriter {
  #bytes = new Uint8Array(1_024);
  #length = 0;

  get length(): number {
    return this.#length;
  }

  /** A whole number from 0 to 2 ** 53 - 1, seven bits a byte, the lowest first. */
  number(value: number): void {
    this.#room(8);
    let rest = value;
    while (rest > 127) {
      this.#bytes[this.#length++] = (rest % 128) | 128;
      rest = Math.floor(rest / 128);
    }
    this.#bytes[this.#length++] = rest;
  }

  text(text: string): void {
    const most = text.length * 3;
    this.#room(most);
    const { written } = new TextEncoder().encodeInto(text, this.#bytes.subarray(this.#length));
    this.#length += written;
  }

  /** All that was written since this was called last. */
  take(): Uint8Array {
    const taken = this.#bytes.slice(0, this.#length);
    this.#length = 0;
    return taken;
  }

  #room(bytes: number): void {
    if (this.#length + bytes <= this.#bytes.length) return;
    const larger = new Uint8Array(Math.max(this.#bytes.length * 2, this.#length + bytes));
    larger.set(this.#bytes.subarray(0, this.#length));
    this.#bytes = larger;
  }
}

/** Reads what a `ByteWriter` has written. */
class ByteReader {
  readonly #bytes: Uint8Array;
  #at = 0;

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes;
  }

  number(): number {
    let value = 0;
    let factor = 1;
    for (;;) {
      const byte = this.#bytes[this.#at++] ?? 0;
      value += (byte & 127) * factor;
      if (byte < 128) return value;
      factor *= 128;
    }
  }
}

/** Differences are small, and as often negative: 0, -1, 1, -2, 2, … as 0, 1, 2, 3, 4, … */
function folded(value: number): number {
  return value < 0 ? -2 * value - 1 : 2 * value;
}

function unfolded(value: number): number {
  return value % 2 === 0 ? value / 2 : -(value + 1) / 2;
}

/** Writes a column of whole numbers from 0 to 2 ** 51, each as its difference from the one before. */
export class NumberEncoder {
  readonly bytes = new ByteWriter();
  #before = 0;

  /** @param value undefined: the row has none */
  add(value: number | undefined): void {
    if (value === undefined) {
      this.bytes.number(0);
      return;
    }
    this.bytes.number(folded(value - this.#before) + 1);
    this.#before = value;
  }
}

/** @returns NaN for rows that have none. */
export function decodeNumbers(bytes: Uint8Array, count: number): Float64Array {
  const reader = new ByteReader(bytes);
  const values = new Float64Array(count);
  let before = 0;
  for (let index = 0; index < count; index += 1) {
    const read = reader.number();
    if (read > 0) before += unfolded(read - 1);
    values[index] = read === 0 ? Number.NaN : before;
  }
  return values;
}

const asBefore = 0;
const anInteger = 1;
const textOfLength = 2;

/** Whole numbers that are written as JavaScript writes them, so that the text comes back from the number. */
const plainInteger = /^(?:0|[1-9]\d{0,14})$/;

/**
 * Writes a column of texts: for each row whether it is the text of the row before, a whole number, or another text of so
 * many UTF-16 units, which then stands among the texts.
 */
export class TextEncoderByRow {
  readonly codes = new ByteWriter();
  readonly integers = new NumberEncoder();
  readonly text = new ByteWriter();
  #before = '';

  add(text: string): void {
    if (text === this.#before) {
      this.codes.number(asBefore);
      return;
    }
    this.#before = text;
    if (plainInteger.test(text)) {
      this.codes.number(anInteger);
      this.integers.add(Number(text));
    } else {
      this.codes.number(textOfLength + text.length);
      this.text.text(text);
    }
  }
}

/** A column of texts, one for each row. */
export interface Texts {
  at(row: number): string;
  /** Which rows have a text in which the pattern, which is global, is found: 1 for each, else 0. */
  matches(pattern: RegExp): Uint8Array;
}

export function decodeTexts(
  [codes, integers, text]: readonly [Uint8Array, Uint8Array, Uint8Array],
  count: number,
): Texts {
  const reader = new ByteReader(codes);
  const numbers = new ByteReader(integers);
  const all = new TextDecoder('utf-8', { ignoreBOM: true }).decode(text);
  /** For each row the place of its text among the texts, or -1 and less for one among the whole numbers. */
  const places = new Int32Array(count);
  /** Where each text begins; the last entry is the end of all. */
  const begins = [0, 0];
  const found: number[] = [];
  let integer = 0;
  let before = 0;
  for (let row = 0; row < count; row += 1) {
    const code = reader.number();
    if (code === anInteger) {
      integer += unfolded(numbers.number() - 1);
      before = -found.push(integer);
    } else if (code !== asBefore) {
      before = begins.length - 1;
      begins.push((begins[before] ?? 0) + code - textOfLength);
    }
    places[row] = before;
  }
  return {
    at(row) {
      const place = places[row] ?? 0;
      return place < 0 ? String(found[-place - 1]) : all.slice(begins[place], begins[place + 1]);
    },
    matches(pattern) {
      const inTexts = textsWith(pattern, all, begins);
      const inNumbers = Uint8Array.from(found, (value) => (String(value).search(pattern) < 0 ? 0 : 1));
      return Uint8Array.from(places, (place) =>
        place < 0 ? (inNumbers[-place - 1] ?? 0) : (inTexts[place] ?? 0),
      );
    },
  };
}

/** Which of the texts that stand one behind the other have a match that lies within them. */
function textsWith(pattern: RegExp, all: string, begins: readonly number[]): Uint8Array {
  const found = new Uint8Array(begins.length);
  let place = 0;
  pattern.lastIndex = 0;
  for (let match = pattern.exec(all); match !== null; match = pattern.exec(all)) {
    const { index } = match;
    while ((begins[place + 1] ?? all.length) <= index && place < begins.length - 2) place += 1;
    const end = begins[place + 1] ?? all.length;
    const isWithin = index + match[0].length <= end;
    if (isWithin) found[place] = 1;
    pattern.lastIndex = isWithin ? end : index + 1;
  }
  return found;
}
