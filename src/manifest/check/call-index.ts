import type { RowResult } from '../../domain.ts';
import { escapeInvisible } from '../../text/printable.ts';
import type { RowProblem } from '../problem.ts';
import { DigestTable, digest, subjectDigest, wordOf } from './digest-table.ts';

/**
 * What is done with rows that act on the same subject with different requests: `refuse` leaves that to the user, `last`
 * calls the last of them only, `in-order` all of them, one after the other.
 */
export const conflictRules = ['refuse', 'last', 'in-order'] as const;

export type ConflictRule = (typeof conflictRules)[number];

/** A row that acts on what an earlier one acts on, with another request. */
export interface Conflict {
  readonly operation: string;
  /** What the subject is, in one word. */
  readonly thing: string;
  readonly subject: string;
  readonly row: number;
  readonly line: number;
  /** The earlier row: the first of its subject, or the latest before, if rows are called in order. */
  readonly firstRow: number;
  readonly firstLine: number;
}

/** What is wrong with such a row where conflicts are refused. */
export function conflictProblem({ thing, subject, firstLine }: Conflict): RowProblem {
  return {
    problem: `conflicts with line ${firstLine}: different values for ${thing} ${escapeInvisible(subject)}`,
  };
}

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
export type DuplicateVerdict =
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
 * Tells which calls are identical to an earlier one of their subject. Keeps 36 bytes for each entry, and 5 to 11 more for
 * finding it. The probability that two requests for one subject are confused is below 10^-19.
 */
export class CallIndex {
  readonly #table = new DigestTable(changedNumber + 1);
  readonly #compared: 'any' | 'latest';
  #changedSubjects = 0;

  /**
   * @param compared the earlier calls that a call may repeat: any of its subject, or the latest of its subject only. Of x, y,
   *   x the third is a duplicate of the first, or changes something.
   */
  constructor(compared: 'any' | 'latest') {
    this.#compared = compared;
  }

  /** Subjects that were met with different requests; 0 when any earlier call is compared. */
  get changedSubjects(): number {
    return this.#changedSubjects;
  }

  /** Enters a call and tells what it has in common with those before. A conflict names the first, or the latest. */
  add(call: CallIdentity): DuplicateVerdict {
    const table = this.#table;
    const key = subjectDigest(call);
    const request = digest(call.request);
    const known = table.find(key);
    if (known < 0) {
      this.#note(table.enter(key), call, request);
      return { kind: 'new' };
    }
    const row = table.get(known, rowNumber);
    if (this.#sends(known, request)) return { kind: 'duplicate', row };
    const line = table.get(known, lineNumber);
    if (this.#compared === 'latest') {
      if (table.get(known, changedNumber) === 0) this.#changedSubjects++;
      table.set(known, changedNumber, 1);
      this.#note(known, call, request);
      return { kind: 'conflict', row, line };
    }
    // A call that conflicts has an entry of its own, so that its duplicates are found. No operation's name begins with
    // NUL: the two kinds of keys are never equal.
    const fullKey = digest(`\0${call.operation}\0${call.subject}\0${call.request}`);
    const same = table.find(fullKey);
    if (same >= 0) return { kind: 'duplicate', row: table.get(same, rowNumber) };
    this.#note(table.enter(fullKey), call, request);
    return { kind: 'conflict', row, line };
  }

  /** Once all calls have been added: what becomes of one of them if only the last of each subject is called. */
  judge(call: CallIdentity): DuplicateVerdict {
    const row = this.#table.get(this.#table.find(subjectDigest(call)), rowNumber);
    if (row === call.row) return { kind: 'new' };
    return { kind: row > call.row ? 'superseded' : 'duplicate', row };
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

/** Where a subject was done before. */
export interface DoneBefore {
  /** A run or a report, as people call it. */
  readonly source: string;
  readonly row: number;
}

type Subject = Pick<CallIdentity, 'operation' | 'subject'>;

const doneRow = 0;
/** From 1; 0: not done. */
const doneSource = 1;

/**
 * The subjects that earlier runs have done: those whose last called row succeeded there. Keeps 24 bytes for each, and 5 to
 * 11 more for finding it.
 */
export class DoneRows {
  readonly #table = new DigestTable(doneSource + 1);
  readonly #sources: string[] = [];

  get sources(): readonly string[] {
    return this.#sources;
  }

  /** What is noted from now on is of this source. */
  begin(source: string): void {
    this.#sources.push(source);
  }

  /** What became of a row; rows come in the order of their source. */
  note(subject: Subject, row: number, { outcome, code }: Pick<RowResult, 'outcome' | 'code'>): void {
    const isDone = outcome === 'succeeded' || code === 'DONE_BEFORE';
    // Others were not called, because another row of the subject was.
    if (!isDone && outcome !== 'failed' && outcome !== 'not_attempted') return;
    const key = subjectDigest(subject);
    const known = this.#table.find(key);
    if (known < 0 && !isDone) return;
    const entry = known < 0 ? this.#table.enter(key) : known;
    const before = this.#table.get(entry, doneSource);
    if (before !== 0 && before !== this.#sources.length) return;
    this.#table.set(entry, doneRow, row);
    this.#table.set(entry, doneSource, isDone ? this.#sources.length : 0);
  }

  /** What this source has done is taken back, or may be. */
  undo(subject: Subject): void {
    const known = this.#table.find(subjectDigest(subject));
    if (known >= 0 && this.#table.get(known, doneSource) === this.#sources.length)
      this.#table.set(known, doneSource, 0);
  }

  /** Undefined when no source has done it. */
  find(subject: Subject): DoneBefore | undefined {
    const entry = this.#table.find(subjectDigest(subject));
    const source = entry < 0 ? undefined : this.#sources[this.#table.get(entry, doneSource) - 1];
    return source === undefined ? undefined : { source, row: this.#table.get(entry, doneRow) };
  }
}
