import type { OutcomeCounts, RowHistory, RowResult } from '../domain.ts';
import type { FailureTally } from './failed-rows.ts';
import type { CodeCount, JournalView } from './journal.ts';
import type { JournalState } from './state.ts';

/** How many results `results` hands out at once. */
const partSize = 1_000;

/** What a journal knows from its state alone, wherever its lines are. */
export abstract class StateView implements JournalView {
  readonly #state: JournalState;

  constructor(state: JournalState) {
    this.#state = state;
  }

  get finishedCount(): number {
    return this.#state.finishedCount;
  }

  get outcomeCounts(): OutcomeCounts {
    return this.#state.outcomeCounts;
  }

  get codeCounts(): readonly CodeCount[] {
    return this.#state.codeCounts();
  }

  get failures(): FailureTally {
    return this.#state.failures;
  }

  get unclearCount(): number {
    return this.#state.unclearCount;
  }

  get lastRow(): number {
    return this.#state.lastRow;
  }

  get lastFinishedAt(): string | undefined {
    return this.#state.lastFinishedAt;
  }

  isFinished(row: number): boolean {
    return this.#state.isFinished(row);
  }

  history(row: number): RowHistory | undefined {
    return this.#state.history(row);
  }

  isUnsettled(row: number): boolean {
    return this.#state.isUnsettled(row);
  }

  fedTo(row: number): string | undefined {
    return this.#state.fedTo(row);
  }

  unsettledRows(): Iterable<number> {
    return this.#state.unsettledRows();
  }

  begunRows(): Iterable<number> {
    return this.#state.begunRows();
  }

  async *results(first = 1, last = this.lastRow): AsyncGenerator<readonly RowResult[]> {
    let part: RowResult[] = [];
    for (let row = first; row <= Math.min(last, this.lastRow); row++) {
      const offset = this.#state.offset(row);
      if (offset === undefined) continue;
      part.push(await this.readResult(row, offset));
      if (part.length === partSize) {
        yield part;
        part = [];
      }
    }
    if (part.length > 0) yield part;
  }

  /** Reads the row's result from the line that begins there. */
  protected abstract readResult(row: number, offset: number): Promise<RowResult>;

  abstract close(): Promise<void>;
}
