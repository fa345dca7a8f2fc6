import { createHash } from 'node:crypto';

const before = ',"prev":"';
const after = '"}';
const digestLength = 64;

/**
 * Links the writes to a journal: the first line of each names, as its last key `prev`, the SHA-256 of all bytes before the line.
 * So a change of a line shows at the next write after it.
 */
export class JournalChain {
  readonly #hash = createHash('sha256');

  /** Adds bytes of the file in their order. */
  add(bytes: Buffer): void {
    this.#hash.update(bytes);
  }

  /** Of all bytes so far, in hexadecimal. */
  get digest(): string {
    return this.#hash.copy().digest('hex');
  }
}

/** The digest that a line names; undefined in the other lines of a write, and in all lines of versions without a chain. */
export function prevOf(line: string): string | undefined {
  const end = line.slice(-(before.length + digestLength + after.length));
  // The text of a row has its quotes escaped, and its columns end with another brace.
  return end.startsWith(before) && end.endsWith(after) ? end.slice(before.length, -after.length) : undefined;
}
