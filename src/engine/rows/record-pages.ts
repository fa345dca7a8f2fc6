import { randomBytes } from 'node:crypto';
import { closeSync, mkdirSync, openSync, readSync, rmSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { systemError } from '../../base/errors/system-error.ts';

/** A page has 2^8 records, so that reading a page for one of its records takes microseconds. */
const pageBits = 8;
const pageMask = (1 << pageBits) - 1;

/** Where records are for which memory has no room. */
export interface Overflow {
  /** The folder of a file that has no name. A missing folder is made. */
  readonly folder: string;
  /** The number of pages in memory. A page has 256 records. Default: 4,096, for a million records */
  readonly pagesInMemory?: number;
}

/**
 * Records of a few numbers below 2^32. With an overflow, the latest pages are in memory, and the others in a file; without, all are in
 * memory.
 */
export class RecordPages {
  readonly #numbers: number;
  readonly #folder: string;
  readonly #pagesInMemory: number;
  /** By index. Undefined for a page that is only in the file. */
  readonly #pages: (Uint32Array | undefined)[] = [];
  /** Whether a page in memory differs from the file, by index. */
  readonly #isChanged: boolean[] = [];
  /** The places of the pages in memory: a ring in which a page replaces the one that was put there first. */
  readonly #ring: number[] = [];
  #nextInRing = 0;
  #file: number | undefined;

  /** @param numbers how many a record has */
  constructor(numbers: number, overflow?: Overflow) {
    this.#numbers = numbers;
    this.#folder = overflow?.folder ?? '';
    this.#pagesInMemory =
      overflow === undefined ? Number.POSITIVE_INFINITY : (overflow.pagesInMemory ?? 4_096);
  }

  /** @throws a `SystemError` when the file can't be read or written; `set`, too */
  get(record: number, number: number): number {
    return this.#pageAt(record >>> pageBits)[(record & pageMask) * this.#numbers + number] as number;
  }

  /** Sets a number, which was 0 until now. Records are set in their order, from 0; then in any order. */
  set(record: number, number: number, value: number): void {
    const pageIndex = record >>> pageBits;
    this.#pageAt(pageIndex)[(record & pageMask) * this.#numbers + number] = value;
    this.#isChanged[pageIndex] = true;
  }

  /** Removes the file. Records can't be read any more. */
  close(): void {
    if (this.#file !== undefined) closeSync(this.#file);
    this.#file = undefined;
  }

  #pageAt(pageIndex: number): Uint32Array {
    return this.#pages[pageIndex] ?? this.#fetch(pageIndex);
  }

  #fetch(pageIndex: number): Uint32Array {
    const isNew = pageIndex === this.#pages.length;
    const page =
      this.#ring.length < this.#pagesInMemory ? this.#moreMemory(pageIndex) : this.#memoryOfOldest(pageIndex);
    if (isNew) page.fill(0);
    else this.#transfer(readSync, page, pageIndex);
    this.#pages[pageIndex] = page;
    return page;
  }

  #moreMemory(pageIndex: number): Uint32Array {
    this.#ring.push(pageIndex);
    return new Uint32Array(this.#numbers << pageBits);
  }

  /** Moves the page that has been in memory for the longest time into the file, unless the file has it. */
  #memoryOfOldest(pageIndex: number): Uint32Array {
    const oldest = this.#ring[this.#nextInRing] as number;
    const page = this.#pages[oldest] as Uint32Array;
    if (this.#isChanged[oldest]) this.#transfer(writeSync, page, oldest);
    this.#isChanged[oldest] = false;
    this.#pages[oldest] = undefined;
    this.#ring[this.#nextInRing] = pageIndex;
    this.#nextInRing = (this.#nextInRing + 1) % this.#pagesInMemory;
    return page;
  }

  #transfer(move: MovePart, page: Uint32Array, pageIndex: number): void {
    try {
      this.#file ??= openWithoutName(this.#folder);
      const { byteLength } = page;
      for (let done = 0; done < byteLength; ) {
        const bytes = move(this.#file, page, done, byteLength - done, pageIndex * byteLength + done);
        if (bytes === 0) throw Object.assign(new Error('the file ends too early'), { code: 'EIO' });
        done += bytes;
      }
    } catch (error) {
      throw systemError(error, this.#folder) ?? error;
    }
  }
}

/** Reads or writes a part of a page. Returns how many bytes, which may be fewer than asked for. */
type MovePart = (file: number, page: Uint32Array, offset: number, bytes: number, position: number) => number;

function openWithoutName(folder: string): number {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const path = join(folder, `.${randomBytes(8).toString('hex')}.tmp`);
  const file = openSync(path, 'wx+', 0o600);
  rmSync(path, { force: true });
  return file;
}
