import { perhapsCalled } from '../attempts.ts';
import { noHistory, type RowHistory, type RowResult, type SavedAnswer } from '../domain.ts';
import type { LedgerEntry, Leftover, RowTask, Unfinished } from './payload.ts';

/** The state of a row in a batch. */
interface RowState {
  result?: RowResult;
  history: RowHistory | undefined;
  attemptsUsed: number;
  /** Whether a worker was about to call it, and has not reported the outcome. */
  isIntended: boolean;
}

/**
 * The sum of the entries of a batch's ledger, read in order. A row with an intent when another worker took the batch over may
 * have been called: it is unclear from then on. Later entries of the former worker are ignored, because the new one has not
 * read them.
 */
export class Ledger {
  readonly #rows: ReadonlyMap<number, RowState>;
  #claim = 0;
  #finished = 0;
  #isWithdrawn = false;
  readonly #answers: SavedAnswer[] = [];

  /** @param rows of the batch, as they were fed */
  constructor(rows: readonly Pick<RowTask, 'row' | 'history' | 'attemptsUsed'>[]) {
    this.#rows = new Map(
      rows.map(({ row, history, attemptsUsed = 0 }) => [row, { history, attemptsUsed, isIntended: false }]),
    );
  }

  /** The claim of the worker that has the batch, as far as was read; 0 when nothing was written. */
  get claim(): number {
    return this.#claim;
  }

  /** Whether the coordinator wants the batch back. */
  get isWithdrawn(): boolean {
    return this.#isWithdrawn;
  }

  /** @returns the results that are new */
  apply(entry: LedgerEntry): readonly RowResult[] {
    if (entry.type === 'withdraw') this.#isWithdrawn = true;
    if (entry.type === 'withdraw' || entry.claim < this.#claim) return [];
    if (entry.claim > this.#claim) this.#takeOver(entry.claim);
    if (entry.type === 'begin') return [];
    const fresh = (entry.results ?? []).filter((result) => this.finish(result));
    for (const unfinished of entry.unfinished ?? []) this.leave(unfinished);
    if (entry.answers !== undefined) this.#answers.push(...entry.answers);
    // A row may be called again at once.
    for (const row of entry.intents ?? []) this.intend(row);
    return fresh;
  }

  /** The intent of the row is written. */
  intend(row: number): void {
    this.#row(row).isIntended = true;
  }

  /** Whether the row has an intent and no reported outcome. */
  isIntended(row: number): boolean {
    return this.#row(row).isIntended;
  }

  /** The worker of the batch is gone: rows with an intent may have been called. */
  abandon(): void {
    for (const state of this.#rows.values()) {
      if (!state.isIntended) continue;
      state.history = perhapsCalled(state.history ?? noHistory);
      state.isIntended = false;
    }
  }

  /** @returns whether the row had no result yet: the first result counts */
  finish(result: RowResult): boolean {
    const state = this.#row(result.row);
    state.isIntended = false;
    if (state.result !== undefined) return false;
    state.result = result;
    this.#finished += 1;
    return true;
  }

  leave({ row, history, attemptsUsed }: Unfinished): void {
    Object.assign(this.#row(row), { history, attemptsUsed, isIntended: false });
  }

  answered(answer: SavedAnswer): void {
    this.#answers.push(answer);
  }

  /** The answers not taken yet. */
  takeAnswers(): readonly SavedAnswer[] {
    return this.#answers.splice(0);
  }

  get unfinishedRows(): number {
    return this.#rows.size - this.#finished;
  }

  results(): RowResult[] {
    return [...this.#rows.values()].flatMap(({ result }) => (result === undefined ? [] : [result]));
  }

  /** The rows without a result. */
  leftovers(): Leftover[] {
    return [...this.#rows].flatMap(([row, { result, history, attemptsUsed }]) =>
      result === undefined
        ? [{ row, ...(history !== undefined && { history }), attemptsUsed, delayMs: 0 }]
        : [],
    );
  }

  #takeOver(claim: number): void {
    this.#claim = claim;
    this.abandon();
  }

  #row(row: number): RowState {
    const state = this.#rows.get(row);
    if (state === undefined) throw new TypeError(`Row ${row} is in the ledger of a batch that it is not in`);
    return state;
  }
}
