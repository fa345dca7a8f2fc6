import { hash } from 'node:crypto';
import { type Overflow, RecordPages } from './record-pages.ts';

/** The words of a key: 96 bits of a SHA-256. The first is in a slot, the others are in an entry. */
const keyWords = 3;
const entryWords = keyWords - 1;

const wordRange = 2 ** 32;

/**
 * Slots for the entries whose keys begin with the same bits. Open addressing with linear probing: a slot has two words, the first word of a
 * key, and the entry's number plus one. A free slot has 0 as its second word.
 */
interface Segment {
  readonly slots: Uint32Array;
  used: number;
  /** How many of the lowest bits of the first word all keys of the segment share. */
  bits: number;
}

const slotBits = 14;
const slotWords = 2;
const segmentWords = slotWords << slotBits;
/** A fuller segment is split in two. */
const maxUsed = 0.75 * (1 << slotBits);

/**
 * Maps the digests of millions of texts to a few numbers below 2^32. An entry takes 11 to 22 bytes for its slot, which is in memory, and 8
 * bytes and 4 for each number, which may overflow into a file. The probability of confusing any two of 100 million texts is below 10^-13.
 *
 * Extendible hashing: segments grow one by one, so that no moment needs twice the memory.
 */
export class DigestTable {
  readonly #entries: RecordPages;
  #size = 0;
  /** The segment of a key is the one at the lowest bits of the key's first word. Several places may have one segment. */
  #segments: Segment[] = [{ slots: new Uint32Array(segmentWords), used: 0, bits: 0 }];

  /** @param overflow for entries. Default: all are in memory */
  constructor(numbers: number, overflow?: Overflow) {
    this.#entries = new RecordPages(entryWords + numbers, overflow);
  }

  /** Returns the entry of a key; -1 for an unknown key. @throws a `SystemError` of the overflow, as other methods do */
  find(key: string): number {
    const first = wordOf(key, 0);
    const { slots } = this.#segmentOf(first);
    for (let at = firstSlot(first); ; at = nextSlot(at)) {
      const entry = (slots[at + 1] as number) - 1;
      if (entry < 0 || (slots[at] === first && this.#isAt(entry, key))) return entry;
    }
  }

  /** Adds an entry, whose numbers are 0. */
  enter(key: string): number {
    const entry = this.#size++;
    for (let word = 0; word < entryWords; word++) this.#entries.set(entry, word, wordOf(key, word + 1));
    const first = wordOf(key, 0);
    while (this.#segmentOf(first).used >= maxUsed) this.#split(first);
    const segment = this.#segmentOf(first);
    segment.used++;
    place(segment.slots, first, entry + 1);
    return entry;
  }

  get(entry: number, number: number): number {
    return this.#entries.get(entry, entryWords + number);
  }

  set(entry: number, number: number, value: number): void {
    this.#entries.set(entry, entryWords + number, value);
  }

  /** Reads a number below 2^53, which takes the place of two numbers. */
  getLarge(entry: number, number: number): number {
    return this.get(entry, number) * wordRange + this.get(entry, number + 1);
  }

  setLarge(entry: number, number: number, value: number): void {
    this.set(entry, number, Math.floor(value / wordRange));
    this.set(entry, number + 1, value % wordRange);
  }

  close(): void {
    this.#entries.close();
  }

  #segmentOf(first: number): Segment {
    return this.#segments[first & (this.#segments.length - 1)] as Segment;
  }

  #split(first: number): void {
    const segment = this.#segmentOf(first);
    const bit = 1 << segment.bits;
    if (bit === this.#segments.length) this.#segments = [...this.#segments, ...this.#segments];
    segment.bits++;
    const other: Segment = { slots: new Uint32Array(segmentWords), used: 0, bits: segment.bits };
    for (let at = (first & (bit - 1)) | bit; at < this.#segments.length; at += 2 * bit)
      this.#segments[at] = other;
    const all = segment.slots.slice();
    segment.slots.fill(0);
    segment.used = 0;
    for (let at = 0; at < segmentWords; at += slotWords) {
      const [word, numbered] = [all[at] as number, all[at + 1] as number];
      if (numbered === 0) continue;
      const half = (word & bit) === 0 ? segment : other;
      half.used++;
      place(half.slots, word, numbered);
    }
  }

  #isAt(entry: number, key: string): boolean {
    for (let word = 0; word < entryWords; word++) {
      if (this.#entries.get(entry, word) !== wordOf(key, word + 1)) return false;
    }
    return true;
  }
}

/** The highest bits, because the keys of a segment share the lowest. */
function firstSlot(first: number): number {
  return (first >>> (32 - slotBits)) * slotWords;
}

function nextSlot(at: number): number {
  return (at + slotWords) & (segmentWords - 1);
}

function place(slots: Uint32Array, first: number, numbered: number): void {
  let at = firstSlot(first);
  while (slots[at + 1] !== 0) at = nextSlot(at);
  slots[at] = first;
  slots[at + 1] = numbered;
}

/** SHA-256 as a string of bytes: the fastest form in `node:crypto` for short hashes. */
export function digest(text: string): string {
  return hash('sha256', text, 'binary');
}

/** The digest of an operation with a subject. Both must be well-formed Unicode, because they are hashed as UTF-8. */
export function subjectDigest({ operation, subject }: { operation: string; subject: string }): string {
  return digest(`${operation}\0${subject}`);
}

export function wordOf(hashed: string, word: number): number {
  const at = word * 4;
  return (
    (hashed.charCodeAt(at) |
      (hashed.charCodeAt(at + 1) << 8) |
      (hashed.charCodeAt(at + 2) << 16) |
      (hashed.charCodeAt(at + 3) << 24)) >>>
    0
  );
}
