import { noHistory, perhapsCalled } from '../../../domain/attempts.ts';
import type { AttemptHistory } from '../../../domain/row-result.ts';
import type { SavedAnswer } from '../../../domain/terms.ts';
import type { ResultLine } from '../../journal/line.ts';
import type { AttemptsOfRow, LedgerEntry, RowTask, UnfinishedRow } from '../payload.ts';

interface RowState {
  result?: ResultLine;
  history: AttemptHistory | undefined;
  attemptsUsed: number;
  isIntended: boolean;
}

/**
 * The entries of a batch's ledger, applied in order. When another worker takes the batch over, rows with an intent become unclear, and
 * later entries of the former worker are ignored.
 */
export class Ledger {
  readonly #rows: ReadonlyMap<number, RowState>;
  #claim = 0;
  #finishedCount = 0;
  #isWithdrawn = false;
  /** Whether the ledger has the first entry of a worker. Undefined without entries of workers. */
  #hasBeginning: boolean | undefined;
  readonly #answers: SavedAnswer[] = [];

  constructor(rows: readonly Pick<RowTask, 'row' | 'history' | 'attemptsUsed'>[]) {
    this.#rows = new Map(
      rows.map(({ row, history, attemptsUsed = 0 }) => [row, { history, attemptsUsed, isIntended: false }]),
    );
  }

  /** The number of the latest claim in the ledger; 0 without entries. */
  get claim(): number {
    return this.#claim;
  }

  get isWithdrawn(): boolean {
    return this.#isWithdrawn;
  }

  /** False when the first entry of a worker is missing: the datastore has lost it. */
  get hasBeginning(): boolean {
    return this.#hasBeginning === true;
  }

  apply(entry: LedgerEntry): readonly ResultLine[] {
    if (entry.type === 'withdraw') this.#isWithdrawn = true;
    else this.#hasBeginning ??= entry.isFirst === true;
    if (entry.type === 'withdraw' || entry.claim < this.#claim) return [];
    if (entry.claim > this.#claim) this.#takeOver(entry.claim);
    if (entry.type === 'begin') return [];
    const fresh = (entry.results ?? []).filter((result) => this.finish(result));
    for (const unfinished of entry.unfinished ?? []) this.keepProgress(unfinished);
    if (entry.answers !== undefined) this.#answers.push(...entry.answers);
    // Intents come last: one entry may finish a row's call and announce its next.
    for (const row of entry.intents ?? []) this.intend(row);
    return fresh;
  }

  intend(row: number): void {
    this.#row(row).isIntended = true;
  }

  isIntended(row: number): boolean {
    return this.#row(row).isIntended;
  }

  /** Doubts rows with an intent: their worker is gone, and may have called them. */
  doubtIntended(): void {
    this.#doubt((state) => state.isIntended);
  }

  /** Doubts all rows without a result: the ledger has lost entries, and a worker may have called any of them. */
  doubtAll(): void {
    this.#doubt(
      ({ result, isIntended, history }) => isIntended || (result === undefined && !history?.unclear),
    );
  }

  #doubt(isDoubtful: (state: RowState) => boolean): void {
    for (const state of this.#rows.values()) {
      if (!isDoubtful(state)) continue;
      state.history = perhapsCalled(state.history ?? noHistory);
      state.isIntended = false;
    }
  }

  /** @returns whether this is the row's first result: later ones do not count */
  finish(result: ResultLine): boolean {
    const state = this.#row(result.row);
    state.isIntended = false;
    if (state.result !== undefined) return false;
    state.result = result;
    this.#finishedCount += 1;
    return true;
  }

  keepProgress({ row, history, attemptsUsed }: AttemptsOfRow): void {
    Object.assign(this.#row(row), { history, attemptsUsed, isIntended: false });
  }

  addAnswer(answer: SavedAnswer): void {
    this.#answers.push(answer);
  }

  takeAnswers(): readonly SavedAnswer[] {
    return this.#answers.splice(0);
  }

  get unfinishedCount(): number {
    return this.#rows.size - this.#finishedCount;
  }

  results(): ResultLine[] {
    return [...this.#rows.values()].flatMap(({ result }) => (result === undefined ? [] : [result]));
  }

  unfinishedRows(): UnfinishedRow[] {
    return [...this.#rows].flatMap(([row, { result, history, attemptsUsed }]) =>
      result === undefined ? [{ row, history, attemptsUsed, delayMs: 0 }] : [],
    );
  }

  #takeOver(claim: number): void {
    this.#claim = claim;
    this.doubtIntended();
  }

  #row(row: number): RowState {
    const state = this.#rows.get(row);
    if (state === undefined) throw new TypeError(`Row ${row} is in the ledger of a batch that it is not in`);
    return state;
  }
}
