import { hash } from 'node:crypto';

/** What a call has in common with the calls before it. */
export type Acquaintance =
  /** No earlier row acts on this subject. */
  | { readonly kind: 'new' }
  /** The earlier row acts on the same subject, with the same request or with another one. */
  | { readonly kind: 'duplicate' | 'conflict'; readonly firstRow: number };

/** The identity of a call. Text must be well-formed Unicode, because it is hashed as UTF-8. */
export interface CallIdentity {
  readonly row: number;
  readonly operation: string;
  readonly subject: string;
  /** Everything that is sent. */
  readonly request: string;
}

/** 32-bit words of an entry: 4 of the key's hash, 2 of the request's hash, 1 row number. */
const keyWords = 4;
const requestWords = 2;
const rowWord = keyWords + requestWords;
const entryWords = rowWord + 1;

/** Entries are kept in blocks of so many, which are never moved. */
const blockBits = 14;
const blockMask = (1 << blockBits) - 1;

/** The table of slots is doubled before it is fuller than this. */
const maxLoad = 0.75;

/**
 * Tells whether a call has been met before. Keeps 28 bytes for each call, and 5 to 11 more for finding it, however
 * long the calls are: SHA-256 is cut to 128 bits for (operation, subject) and to 64 bits for the request, which is
 * compared for equal subjects only. So the probability that any two of 100 million subjects are confused is below
 * 10^-22, and that two requests for one subject are, below 10^-19.
 *
 * A call that conflicts is entered once more under (operation, subject, request), so that its own duplicates are found.
 */
export class DuplicateIndex {
  readonly #blocks: Uint32Array[] = [];
  #size = 0;
  /** Open addressing with linear probing; a slot holds the number of an entry plus one, or 0. */
  #slots = new Uint32Array(1 << 12);

  /** Enters a call and tells what it has in common with those before. Row numbers must be below 2^32. */
  add({ row, operation, subject, request }: CallIdentity): Acquaintance {
    const key = digest(`${operation}\0${subject}`);
    const requestDigest = digest(request);
    const first = this.#find(key);
    if (first < 0) {
      this.#enter(key, requestDigest, row);
      return { kind: 'new' };
    }
    const firstRow = this.#word(first, rowWord);
    if (this.#equals(first, keyWords, requestDigest, requestWords)) return { kind: 'duplicate', firstRow };
    // No operation's name begins with NUL: the two kinds of keys are never equal.
    const fullKey = digest(`\0${operation}\0${subject}\0${request}`);
    const same = this.#find(fullKey);
    if (same >= 0) return { kind: 'duplicate', firstRow: this.#word(same, rowWord) };
    this.#enter(fullKey, requestDigest, row);
    return { kind: 'conflict', firstRow };
  }

  /** Number of the entry with this key, or -1. */
  #find(key: string): number {
    const mask = this.#slots.length - 1;
    for (let slot = wordOf(key, 0) & mask; ; slot = (slot + 1) & mask) {
      const entry = (this.#slots[slot] as number) - 1;
      if (entry < 0 || this.#equals(entry, 0, key, keyWords)) return entry;
    }
  }

  #enter(key: string, requestDigest: string, row: number): void {
    const entry = this.#size++;
    if (entry >> blockBits === this.#blocks.length)
      this.#blocks.push(new Uint32Array(entryWords << blockBits));
    const block = this.#blocks[entry >> blockBits] as Uint32Array;
    const start = (entry & blockMask) * entryWords;
    for (let word = 0; word < keyWords; word++) block[start + word] = wordOf(key, word);
    for (let word = 0; word < requestWords; word++)
      block[start + keyWords + word] = wordOf(requestDigest, word);
    block[start + rowWord] = row;
    if (this.#size > this.#slots.length * maxLoad) this.#grow();
    else this.#place(entry);
  }

  #grow(): void {
    this.#slots = new Uint32Array(this.#slots.length * 2);
    for (let entry = 0; entry < this.#size; entry++) this.#place(entry);
  }

  #place(entry: number): void {
    const mask = this.#slots.length - 1;
    let slot = this.#word(entry, 0) & mask;
    while (this.#slots[slot] !== 0) slot = (slot + 1) & mask;
    this.#slots[slot] = entry + 1;
  }

  #equals(entry: number, fromWord: number, hashed: string, count: number): boolean {
    for (let word = 0; word < count; word++) {
      if (this.#word(entry, fromWord + word) !== wordOf(hashed, word)) return false;
    }
    return true;
  }

  #word(entry: number, word: number): number {
    return (this.#blocks[entry >> blockBits] as Uint32Array)[
      (entry & blockMask) * entryWords + word
    ] as number;
  }
}

/** SHA-256 as a string of bytes: the fastest form that `node:crypto` gives a short hash in. */
function digest(text: string): string {
  return hash('sha256', text, 'binary');
}

function wordOf(hashed: string, word: number): number {
  const at = word * 4;
  return (
    (hashed.charCodeAt(at) |
      (hashed.charCodeAt(at + 1) << 8) |
      (hashed.charCodeAt(at + 2) << 16) |
      (hashed.charCodeAt(at + 3) << 24)) >>>
    0
  );
}
