import { hash } from 'node:crypto';

/** The words of a key: 96 bits of a SHA-256. */
const keyWords = 3;

/** A block has 2^14 entries, and never moves. */
const blockBits = 14;
const blockMask = (1 << blockBits) - 1;

const wordRange = 2 ** 32;

/** When this share of the slots is in use, the number of slots doubles. */
const maxLoad = 0.75;

/**
 * Maps the digests of millions of texts to a few numbers below 2^32. An entry takes 12 bytes, 4 for each number, and 5 to 11 for its slot.
 * The probability of confusing any two of 100 million texts is below 10^-13.
 */
export class DigestTable {
  readonly #wordsPerEntry: number;
  readonly #blocks: Uint32Array[] = [];
  #size = 0;
  /** Open addressing with linear probing. A slot holds an entry's number plus one, or 0. */
  #slots = new Uint32Array(1 << 12);

  constructor(numbers: number) {
    this.#wordsPerEntry = keyWords + numbers;
  }

  /** Returns the entry of a key; -1 for an unknown key. */
  find(key: string): number {
    const mask = this.#slots.length - 1;
    for (let slot = wordOf(key, 0) & mask; ; slot = (slot + 1) & mask) {
      const entry = (this.#slots[slot] as number) - 1;
      if (entry < 0 || this.#isAt(entry, key)) return entry;
    }
  }

  /** Adds an entry, whose numbers are 0. */
  enter(key: string): number {
    const entry = this.#size++;
    if (entry >> blockBits === this.#blocks.length)
      this.#blocks.push(new Uint32Array(this.#wordsPerEntry << blockBits));
    for (let word = 0; word < keyWords; word++) this.#write(entry, word, wordOf(key, word));
    if (this.#size > this.#slots.length * maxLoad) this.#grow();
    else this.#place(entry);
    return entry;
  }

  get(entry: number, number: number): number {
    return this.#read(entry, keyWords + number);
  }

  set(entry: number, number: number, value: number): void {
    this.#write(entry, keyWords + number, value);
  }

  /** Reads a number below 2^53, which takes the place of two numbers. */
  getLarge(entry: number, number: number): number {
    return this.get(entry, number) * wordRange + this.get(entry, number + 1);
  }

  setLarge(entry: number, number: number, value: number): void {
    this.set(entry, number, Math.floor(value / wordRange));
    this.set(entry, number + 1, value % wordRange);
  }

  #grow(): void {
    this.#slots = new Uint32Array(this.#slots.length * 2);
    for (let entry = 0; entry < this.#size; entry++) this.#place(entry);
  }

  #place(entry: number): void {
    const mask = this.#slots.length - 1;
    let slot = this.#read(entry, 0) & mask;
    while (this.#slots[slot] !== 0) slot = (slot + 1) & mask;
    this.#slots[slot] = entry + 1;
  }

  #isAt(entry: number, key: string): boolean {
    for (let word = 0; word < keyWords; word++) {
      if (this.#read(entry, word) !== wordOf(key, word)) return false;
    }
    return true;
  }

  #read(entry: number, word: number): number {
    return (this.#blocks[entry >> blockBits] as Uint32Array)[
      (entry & blockMask) * this.#wordsPerEntry + word
    ] as number;
  }

  #write(entry: number, word: number, value: number): void {
    const block = this.#blocks[entry >> blockBits] as Uint32Array;
    block[(entry & blockMask) * this.#wordsPerEntry + word] = value;
  }
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
