import { perhapsCalled } from '../../domain/attempts.ts';
import { type AttemptHistory, noHistory, type RowResult, type SavedAnswer } from '../../domain/terms.ts';
import type { LedgerEntry, Leftover, RowTask, Unfinished } from './payload.ts';

/** The state of a row in a batch. */
interface RowState {
  result?: RowResult;
  history: AttemptHistory | undefined;
  attemptsUsed: number;
  /** Whether a worker intended to call the row and has not reported the outcome. */
  isIntended: boolean;
}

/**
 * The state of a batch: the entries of its ledger, applied in order. When another worker takes over the batch, a row with an intent may
 * have been called, and becomes unclear. Later entries of the former worker are ignored, because the new worker has not read them.
 */
export class Ledger {
  readonly #rows: ReadonlyMap<number, RowState>;
  #claim = 0;
  #finished = 0;
  #isWithdrawn = false;
  readonly #answers: SavedAnswer[] = [];

  /** @param rows of the batch, as fed */
  constructor(rows: readonly Pick<RowTask, 'row' | 'history' | 'attemptsUsed'>[]) {
    this.#rows = new Map(
      rows.map(({ row, history, attemptsUsed = 0 }) => [row, { history, attemptsUsed, isIntended: false }]),
    );
  }

  /** The latest claim in the entries; 0 without entries. */
  get claim(): number {
    return this.#claim;
  }

  /** Whether the coordinator has withdrawn the batch. */
  get isWithdrawn(): boolean {
    return this.#isWithdrawn;
  }

  /** Applies an entry. @returns the new results */
  apply(entry: LedgerEntry): readonly RowResult[] {
    if (entry.type === 'withdraw') this.#isWithdrawn = true;
    if (entry.type === 'withdraw' || entry.claim < this.#claim) return [];
    if (entry.claim > this.#claim) this.#takeOver(entry.claim);
    if (entry.type === 'begin') return [];
    const fresh = (entry.results ?? []).filter((result) => this.finish(result));
    for (const unfinished of entry.unfinished ?? []) this.leave(unfinished);
    if (entry.answers !== undefined) this.#answers.push(...entry.answers);
    // Applied last: a row may be called again at once.
    for (const row of entry.intents ?? []) this.intend(row);
    return fresh;
  }

  intend(row: number): void {
    this.#row(row).isIntended = true;
  }

  /** Whether the row has an intent and no reported outcome. */
  isIntended(row: number): boolean {
    return this.#row(row).isIntended;
  }

  /** Marks rows with an intent as perhaps called, because the worker is gone. */
  abandon(): void {
    for (const state of this.#rows.values()) {
      if (!state.isIntended) continue;
      state.history = perhapsCalled(state.history ?? noHistory);
      state.isIntended = false;
    }
  }

  /** Adds a result. @returns whether it is the first of its row: only the first result counts */
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

  /** Returns each answer once. */
  takeAnswers(): readonly SavedAnswer[] {
    return this.#answers.splice(0);
  }

  get unfinishedRows(): number {
    return this.#rows.size - this.#finished;
  }

  results(): RowResult[] {
    return [...this.#rows.values()].flatMap(({ result }) => (result === undefined ? [] : [result]));
  }

  leftovers(): Leftover[] {
    return [...this.#rows].flatMap(([row, { result, history, attemptsUsed }]) =>
      result === undefined ? [{ row, history, attemptsUsed, delayMs: 0 }] : [],
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
