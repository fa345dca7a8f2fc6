import { DigestTable, digest, subjectDigest, wordOf } from './digest-table.ts';

/** The identity of a call. Row numbers and lines must be below 2^32. */
export interface CallIdentity {
  readonly row: number;
  readonly line: number;
  readonly operation: string;
  readonly subject: string;
  /** Everything that is sent. */
  readonly request: string;
}

/** What a call has in common with others that act on the same subject. */
export type Acquaintance =
  /** It is the first one. */
  | { readonly kind: 'new' }
  /** That earlier row sends the same, and is called in its place. */
  | { readonly kind: 'duplicate'; readonly row: number }
  /** That earlier row sends another request. */
  | { readonly kind: 'conflict'; readonly row: number; readonly line: number }
  /** That later row sends another request, and is called in its place. */
  | { readonly kind: 'superseded'; readonly row: number };

/** What an entry holds: 64 bits of the request's digest, which is compared for equal subjects only, and the row. */
const requestWords = 2;
const rowNumber = requestWords;
const lineNumber = rowNumber + 1;
/** Whether the subject was met with different requests. */
const changedNumber = lineNumber + 1;

/**
 * Tells which calls are identical to any earlier one of their subject. Keeps 32 bytes for each call, and 5 to 11 more for
 * finding it. The probability that two requests for one subject are confused is below 10^-19.
 *
 * A call that conflicts is entered once more under (operation, subject, request), so that its own duplicates are found.
 */
export class FirstCalls {
  readonly #table = new DigestTable(lineNumber + 1);

  /** Enters a call and tells what it has in common with those before. */
  add(call: CallIdentity): Acquaintance {
    const key = subjectDigest(call);
    const request = digest(call.request);
    const first = this.#table.find(key);
    if (first < 0) {
      note(this.#table, this.#table.enter(key), call, request);
      return { kind: 'new' };
    }
    const row = this.#table.get(first, rowNumber);
    if (sends(this.#table, first, request)) return { kind: 'duplicate', row };
    // No operation's name begins with NUL: the two kinds of keys are never equal.
    const fullKey = digest(`\0${call.operation}\0${call.subject}\0${call.request}`);
    const same = this.#table.find(fullKey);
    if (same >= 0) return { kind: 'duplicate', row: this.#table.get(same, rowNumber) };
    note(this.#table, this.#table.enter(fullKey), call, request);
    return { kind: 'conflict', row, line: this.#table.get(first, lineNumber) };
  }
}

/**
 * Tells which calls are identical to the latest earlier one of their subject: of x, y, x the third changes something. Keeps
 * 36 bytes for each subject, and 5 to 11 more for finding it.
 */
export class LatestCalls {
  readonly #table = new DigestTable(changedNumber + 1);
  #changedSubjects = 0;

  /** Subjects that were met with different requests. */
  get changedSubjects(): number {
    return this.#changedSubjects;
  }

  /** Enters a call and tells what it has in common with the latest before. */
  add(call: CallIdentity): Acquaintance {
    const key = subjectDigest(call);
    const request = digest(call.request);
    const known = this.#table.find(key);
    if (known < 0) {
      note(this.#table, this.#table.enter(key), call, request);
      return { kind: 'new' };
    }
    const row = this.#table.get(known, rowNumber);
    if (sends(this.#table, known, request)) return { kind: 'duplicate', row };
    const line = this.#table.get(known, lineNumber);
    if (this.#table.get(known, changedNumber) === 0) this.#changedSubjects++;
    this.#table.set(known, changedNumber, 1);
    note(this.#table, known, call, request);
    return { kind: 'conflict', row, line };
  }

  /** Once all calls have been added: what becomes of one of them if only the last of each subject is called. */
  judge(call: CallIdentity): Acquaintance {
    const entry = this.#table.find(subjectDigest(call));
    const row = this.#table.get(entry, rowNumber);
    if (row === call.row) return { kind: 'new' };
    return { kind: row > call.row ? 'superseded' : 'duplicate', row };
  }
}

function note(table: DigestTable, entry: number, { row, line }: CallIdentity, request: string): void {
  for (let word = 0; word < requestWords; word++) table.set(entry, word, wordOf(request, word));
  table.set(entry, rowNumber, row);
  table.set(entry, lineNumber, line);
}

function sends(table: DigestTable, entry: number, request: string): boolean {
  for (let word = 0; word < requestWords; word++) {
    if (table.get(entry, word) !== wordOf(request, word)) return false;
  }
  return true;
}
