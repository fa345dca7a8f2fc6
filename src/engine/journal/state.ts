import type { AttemptHistory, RowResult } from '../../domain/row-result.ts';
import { noOutcomes, type Outcome, type OutcomeCounts } from '../../domain/terms.ts';
import { FailureTally } from './failed-rows.ts';
import type { JournalEntry } from './line.ts';

export interface CodeCount {
  readonly outcome: Outcome;
  readonly code: string;
  readonly count: number;
  /** How many of the rows are unclear. Absent if none can be. */
  readonly unclear?: number;
}

interface FeedingOfRow {
  readonly batch: string;
  /** The epoch of the datastore, if recorded. */
  readonly to: string | undefined;
  isAdded: boolean;
}

/**
 * What the entries of a journal add up to. Keeps the places of results: about 8 bytes for a finished row, and more only for rows in
 * progress.
 */
export class JournalState {
  finishedCount = 0;
  unclearCount = 0;
  /** The highest finished row, or 0. */
  lastRow = 0;
  /** When the latest row finished, in ISO 8601 UTC. */
  lastFinishedAt: string | undefined;
  /** The failed rows since the latest `accepted` entry. */
  failures = new FailureTally();
  readonly #outcomes = noOutcomes();
  readonly #proven = new Set<string>();
  readonly #codes = new Map<string, { outcome: Outcome; code: string; count: number; unclear: number }>();
  readonly #offsets = new RowOffsets();
  readonly #histories = new Map<number, AttemptHistory>();
  readonly #unsettled = new Map<number, FeedingOfRow>();

  /** @param offset where the entry's line begins */
  apply(entry: JournalEntry, offset: number): void {
    switch (entry.type) {
      case 'row':
        if (!this.isFinished(entry.result.row)) this.#finish(entry.result, offset);
        break;
      case 'fed':
        for (let row = entry.first; row <= entry.last; row++) {
          if (this.isFinished(row)) continue;
          this.#unsettled.set(row, { batch: entry.batch, to: entry.to, isAdded: false });
        }
        break;
      case 'added':
        for (let row = entry.first; row <= entry.last; row++) {
          const feeding = this.#unsettled.get(row);
          if (feeding !== undefined) feeding.isAdded = true;
        }
        break;
      case 'returned':
        for (let row = entry.first; row <= entry.last; row++) this.#unsettled.delete(row);
        break;
      case 'open':
        this.#unsettled.delete(entry.row);
        if (!this.isFinished(entry.row)) this.#histories.set(entry.row, entry.history);
        break;
      case 'settled':
        this.#unsettled.clear();
        break;
      case 'accepted':
        this.failures = new FailureTally('resume');
        break;
    }
  }

  isFinished(row: number): boolean {
    return this.#offsets.get(row) !== undefined;
  }

  /** The byte offset of the line with the row's result. */
  offset(row: number): number | undefined {
    return this.#offsets.get(row);
  }

  history(row: number): AttemptHistory | undefined {
    return this.#histories.get(row);
  }

  /** Whether the row is fed, and since then neither finished, returned, opened nor settled. */
  isUnsettled(row: number): boolean {
    return this.#unsettled.has(row);
  }

  fedEpochOf(row: number): string | undefined {
    return this.#unsettled.get(row)?.to;
  }

  /** The id of the batch with the unsettled row. */
  batchOf(row: number): string | undefined {
    return this.#unsettled.get(row)?.batch;
  }

  unsettledBatches(): ReadonlySet<string> {
    return new Set(Array.from(this.#unsettled.values(), ({ batch }) => batch));
  }

  /** Whether the unsettled row certainly reached the datastore. */
  isAdded(row: number): boolean {
    return this.#unsettled.get(row)?.isAdded === true;
  }

  unsettledRows(): Iterable<number> {
    return this.#unsettled.keys();
  }

  /** Rows without a result that have a `history` or are unsettled. */
  *begunRows(): Iterable<number> {
    yield* this.#histories.keys();
    for (const row of this.#unsettled.keys()) if (!this.#histories.has(row)) yield row;
  }

  get outcomeCounts(): OutcomeCounts {
    return this.#outcomes;
  }

  /** Operations of which the API has accepted a row, so that their address is right. */
  get provenOperations(): ReadonlySet<string> {
    return this.#proven;
  }

  get codeCounts(): readonly CodeCount[] {
    return [...this.#codes.values()].map((count) => ({ ...count }));
  }

  #finish(result: RowResult, offset: number): void {
    const { row, outcome, code, finishedAt } = result;
    this.#offsets.set(row, offset);
    this.#histories.delete(row);
    this.#unsettled.delete(row);
    this.#outcomes[outcome]++;
    this.finishedCount++;
    this.failures.add(result);
    if (result.unclear) this.unclearCount++;
    if (code === 'OK') this.#proven.add(result.operation);
    if (row > this.lastRow) this.lastRow = row;
    // ISO times in UTC sort as text.
    if (finishedAt !== undefined && finishedAt > (this.lastFinishedAt ?? ''))
      this.lastFinishedAt = finishedAt;
    const key = `${outcome} ${code}`;
    const codes = this.#codes.get(key) ?? { outcome, code, count: 0, unclear: 0 };
    codes.count++;
    if (result.unclear) codes.unclear++;
    this.#codes.set(key, codes);
  }
}

/** The offsets in a page: 512 KB. */
const pageRows = 65_536;

/** Byte offsets by row, in 8 bytes for each row. Offset 0 belongs to the header, so it means "no line". */
class RowOffsets {
  readonly #pages = new Map<number, Float64Array>();

  get(row: number): number | undefined {
    return this.#pages.get(Math.floor(row / pageRows))?.[row % pageRows] || undefined;
  }

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
