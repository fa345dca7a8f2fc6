import { escapeInvisible } from '../../../base/text/printable.ts';
import type { RowResult } from '../../../domain/row-result.ts';
import { DigestTable, digest, subjectDigest, wordOf } from '../../rows/digest-table.ts';
import { positionText, type RowPosition, type RowProblem } from '../../rows/problem.ts';
import type { Overflow } from '../../rows/record-pages.ts';
import type { DoneBefore } from '../../rows/row.ts';

export interface Conflict {
  readonly operation: string;
  /** What the operation acts on, in one word: `evaluation`. */
  readonly thing: string;
  readonly subject: string;
  readonly row: number;
  readonly line: number;
  /** The number of the first row with the subject, or with `in-order` of the previous one. */
  readonly firstRow: number;
  readonly firstLine: number;
}

export function conflictProblem({ thing, subject, firstRow, firstLine }: Conflict): RowProblem {
  const first = positionText({ row: firstRow, line: firstLine });
  return {
    problem: `conflicts with ${first}: different values for ${thing} ${escapeInvisible(subject)}`,
  };
}

/** A call as the index of calls knows it. `row` and `line` are below 2^32. */
export interface CallIdentity {
  readonly row: number;
  readonly line: number;
  readonly operation: string;
  readonly subject: string;
  readonly request: string;
}

export type DuplicateVerdict =
  | { readonly kind: 'new' }
  /** An earlier row sends the same request, and is called instead. */
  | { readonly kind: 'duplicate'; readonly row: number }
  | ({ readonly kind: 'conflict' } & RowPosition)
  /** A later row sends another request, and is called instead. */
  | { readonly kind: 'superseded'; readonly row: number };

/** An entry of the index has 64 bits of the request's digest, compared only for equal subjects, and the numbers of row and line. */
const requestWords = 2;
const rowNumber = requestWords;
const lineNumber = rowNumber + 1;
/** The place in an entry that says whether the subject has different requests. Only with `latest`. */
const changedNumber = lineNumber + 1;

/**
 * Finds calls that repeat or contradict an earlier one with their subject. An entry takes 11 to 22 bytes of memory, and 24 or 28 that may
 * overflow. The probability of confusing two requests for one subject is below 10^-19. Methods throw a `SystemError` of the overflow.
 */
export class CallIndex {
  readonly #table: DigestTable;
  readonly #compared: 'any' | 'latest';
  #changedSubjects = 0;

  /**
   * @param compared earlier calls that a duplicate may repeat: any with its subject, or only the latest. Of the requests x, y, x, the third
   *   is a duplicate only with `any`.
   * @param overflow for entries. Default: all are in memory
   */
  constructor(compared: 'any' | 'latest', overflow?: Overflow) {
    this.#compared = compared;
    this.#table = new DigestTable(compared === 'any' ? changedNumber : changedNumber + 1, overflow);
  }

  /** How many subjects have different requests. 0 when any earlier call is compared. */
  get changedSubjects(): number {
    return this.#changedSubjects;
  }

  /** Adds a call. A conflict names the first call of the subject, or with `latest` the last one. */
  add(call: CallIdentity): DuplicateVerdict {
    const table = this.#table;
    const key = subjectDigest(call);
    const request = digest(call.request);
    const existing = table.find(key);
    if (existing < 0) {
      this.#note(table.enter(key), call, request);
      return { kind: 'new' };
    }
    const row = table.get(existing, rowNumber);
    if (this.#sends(existing, request)) return { kind: 'duplicate', row };
    const line = table.get(existing, lineNumber);
    if (this.#compared === 'latest') {
      if (table.get(existing, changedNumber) === 0) this.#changedSubjects++;
      table.set(existing, changedNumber, 1);
      this.#note(existing, call, request);
      return { kind: 'conflict', row, line };
    }
    // A second entry makes the duplicates of a conflicting call findable. No operation's name begins with NUL, so the keys never collide.
    const fullKey = digest(`\0${call.operation}\0${call.subject}\0${call.request}`);
    const same = table.find(fullKey);
    if (same >= 0) return { kind: 'duplicate', row: table.get(same, rowNumber) };
    this.#note(table.enter(fullKey), call, request);
    return { kind: 'conflict', row, line };
  }

  /** Whether a call is the one of its subject that is made, if only the last is. For use after all calls were added. */
  judge(call: CallIdentity): DuplicateVerdict {
    const row = this.#table.get(this.#table.find(subjectDigest(call)), rowNumber);
    if (row === call.row) return { kind: 'new' };
    return { kind: row > call.row ? 'superseded' : 'duplicate', row };
  }

  close(): void {
    this.#table.close();
  }

  #note(entry: number, { row, line }: CallIdentity, request: string): void {
    for (let word = 0; word < requestWords; word++) this.#table.set(entry, word, wordOf(request, word));
    this.#table.set(entry, rowNumber, row);
    this.#table.set(entry, lineNumber, line);
  }

  #sends(entry: number, request: string): boolean {
    for (let word = 0; word < requestWords; word++) {
      if (this.#table.get(entry, word) !== wordOf(request, word)) return false;
    }
    return true;
  }
}

type Subject = Pick<CallIdentity, 'operation' | 'subject'>;

const doneRow = 0;
/** The place of the number of the run that has done the subject: from 1, or 0 if none has. */
const doneSource = 1;

/** Subjects whose last called row in earlier runs succeeded. A subject takes 11 to 22 bytes of memory, and 16 that may overflow. */
export class DoneRows {
  readonly #table: DigestTable;
  readonly #sources: string[] = [];

  /** @param overflow for subjects. Default: all are in memory */
  constructor(overflow?: Overflow) {
    this.#table = new DigestTable(doneSource + 1, overflow);
  }

  get sources(): readonly string[] {
    return this.#sources;
  }

  begin(source: string): void {
    this.#sources.push(source);
  }

  /** Notes the result of a row. Call this in the order of rows. */
  note(subject: Subject, row: number, { outcome, code }: Pick<RowResult, 'outcome' | 'code'>): void {
    const isDone = outcome === 'succeeded' || code === 'DONE_BEFORE' || code === 'AS_WANTED';
    // Rows with other outcomes were not called, because another row of their subject was.
    if (!isDone && !['failed', 'not_attempted', 'pending'].includes(outcome)) return;
    const key = subjectDigest(subject);
    const existing = this.#table.find(key);
    if (existing < 0 && !isDone) return;
    const entry = existing < 0 ? this.#table.enter(key) : existing;
    const doneIn = this.#table.get(entry, doneSource);
    if (doneIn !== 0 && doneIn !== this.#sources.length) return;
    this.#table.set(entry, doneRow, row);
    this.#table.set(entry, doneSource, isDone ? this.#sources.length : 0);
  }

  /** Marks a subject as no longer done, also if an undo only may have reverted it. */
  undo(subject: Subject): void {
    const existing = this.#table.find(subjectDigest(subject));
    if (existing >= 0 && this.#table.get(existing, doneSource) === this.#sources.length)
      this.#table.set(existing, doneSource, 0);
  }

  find(subject: Subject): DoneBefore | undefined {
    const entry = this.#table.find(subjectDigest(subject));
    const source = entry < 0 ? undefined : this.#sources[this.#table.get(entry, doneSource) - 1];
    return source === undefined ? undefined : { source, row: this.#table.get(entry, doneRow) };
  }

  /** After this, only `sources` may be read. */
  close(): void {
    this.#table.close();
  }
}
