import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import type { PageContent } from './page-data.ts';

const usualMostRows = 200_000;
/** The most bytes of packed rows, so that the page fits into an e-mail. Base64 makes four bytes of three. */
const mostBytes = (20_000_000 * 3) / 4;
/** The number of rows that are gzipped together. Fewer if they reach the number of characters. */
const portionRows = 1_000;
const portionCharacters = 1_000_000;

/** Packs the rows of a page: first those that the reader should look at, then the others until the page is full. */
export class RowPacks {
  readonly #mostRows: number;
  readonly #first = new Pack();
  readonly #rest = new Pack();

  constructor(mostRows = usualMostRows) {
    this.#mostRows = mostRows;
  }

  /** Adds a row. @param valuesOf makes the values in the order of the columns; not called if the page has no room */
  async add(isFirst: boolean, valuesOf: () => readonly unknown[]): Promise<void> {
    const [first, rest] = [this.#first, this.#rest];
    if (this.#isFull(first.rows, first.bytes)) return;
    if (!isFirst && this.#isFull(first.rows + rest.rows, first.bytes + rest.bytes)) return;
    const pack = isFirst ? first : rest;
    pack.push(valuesOf());
    if (pack.hasPortion) await pack.close();
  }

  /** The packed rows in base64. Call this last. */
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
}

const gzipped = promisify(gzip);

/** Some rows as gzipped JSON: an array for each column. */
interface Portion {
  readonly rows: number;
  readonly bytes: Buffer;
}

/** Rows that are packed in portions. Memory grows with the compressed size. */
class Pack {
  readonly portions: Portion[] = [];
  #open: (readonly unknown[])[] = [];
  #characters = 0;
  rows = 0;
  bytes = 0;

  push(values: readonly unknown[]): void {
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
    const portion = first.map((_, place) => this.#open.map((values) => values[place] ?? null));
    const bytes = await gzipped(JSON.stringify(portion));
    this.portions.push({ rows: this.#open.length, bytes });
    this.bytes += bytes.length;
    this.#open = [];
    this.#characters = 0;
  }
}
