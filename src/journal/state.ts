import { noOutcomes, type Outcome, type RowHistory, type RowResult } from '../domain.ts';
import { FailureTally } from './failed-rows.ts';
import type { CodeCount, JournalEntry } from './journal.ts';

/**
 * What the entries of a journal add up to. Results themselves are not kept, only where their lines are: about 8 bytes
 * a finished row, and more only for the rows that are at work.
 */
export class JournalState {
  readonly outcomeCounts = noOutcomes();
  finishedCount = 0;
  unclearCount = 0;
  lastRow = 0;
  lastFinishedAt: string | undefined;
  readonly failures = new FailureTally();
  readonly #offsets = new RowOffsets();
  readonly #codes = new Map<string, { outcome: Outcome; code: string; count: number }>();
  readonly #histories = new Map<number, RowHistory>();
  /** Rows that were fed and neither finished, opened nor settled since: never more than were fed at a time. */
  readonly #unsettled = new Map<number, string | undefined>();

  /** Takes over an entry whose line begins at `offset`. */
  apply(entry: JournalEntry, offset: number): void {
    switch (entry.type) {
      case 'row':
        if (!this.isFinished(entry.result.row)) this.#finish(entry.result, offset);
        break;
      case 'fed':
        for (let row = entry.first; row <= entry.last; row++) {
          if (!this.isFinished(row)) this.#unsettled.set(row, entry.to);
        }
        break;
      case 'open':
        this.#unsettled.delete(entry.row);
        if (!this.isFinished(entry.row)) this.#histories.set(entry.row, entry.history);
        break;
      case 'settled':
        this.#unsettled.clear();
        break;
      case 'accepted':
        this.failures.clear();
        break;
    }
  }

  isFinished(row: number): boolean {
    return this.#offsets.get(row) !== undefined;
  }

  /** Where the line with the row's result begins, in bytes. */
  offset(row: number): number | undefined {
    return this.#offsets.get(row);
  }

  history(row: number): RowHistory | undefined {
    return this.#histories.get(row);
  }

  isUnsettled(row: number): boolean {
    return this.#unsettled.has(row);
  }

  fedTo(row: number): string | undefined {
    return this.#unsettled.get(row);
  }

  unsettledRows(): Iterable<number> {
    return this.#unsettled.keys();
  }

  *begunRows(): Iterable<number> {
    yield* this.#histories.keys();
    for (const row of this.#unsettled.keys()) if (!this.#histories.has(row)) yield row;
  }

  codeCounts(): readonly CodeCount[] {
    return [...this.#codes.values()].map((count) => ({ ...count }));
  }

  #finish(result: RowResult, offset: number): void {
    const { row, outcome, code, finishedAt } = result;
    this.#offsets.set(row, offset);
    this.#histories.delete(row);
    this.#unsettled.delete(row);
    this.outcomeCounts[outcome]++;
    this.finishedCount++;
    this.failures.add(result);
    if (result.unclear) this.unclearCount++;
    if (row > this.lastRow) this.lastRow = row;
    // Times of one format, in UTC, sort as text.
    if (finishedAt !== undefined && finishedAt > (this.lastFinishedAt ?? ''))
      this.lastFinishedAt = finishedAt;
    const key = `${outcome} ${code}`;
    const known = this.#codes.get(key);
    if (known === undefined) this.#codes.set(key, { outcome, code, count: 1 });
    else known.count++;
  }
}

/** Rows whose offsets lie in one page: 512 KB. */
const pageRows = 65_536;

/**
 * Where the line of each finished row begins in the journal: 8 bytes a row, whatever the order in which rows finish.
 * Offset 0 is the header's, so it stands for "no line".
 */
class RowOffsets {
  readonly #pages = new Map<number, Float64Array>();

  /** Offset in bytes, undefined when the row has no line. */
  get(row: number): number | undefined {
    return this.#pages.get(Math.floor(row / pageRows))?.[row % pageRows] || undefined;
  }

  /** `offset` is greater than 0. */
  set(row: number, offset: number): void {
    const number = Math.floor(row / pageRows);
    let page = this.#pages.get(number);
    if (page === undefined) {
      page = new Float64Array(pageRows);
      this.#pages.set(number, page);
    }
    page[row % pageRows] = offset;
  }
}
