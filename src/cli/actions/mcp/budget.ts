import { usageError } from '../../../errors.ts';
import type { RunRecord, RunStore } from '../../../index.ts';
import { count, counted } from '../../../text/quantities.ts';

const dayMs = 24 * 60 * 60_000;

/** How many rows agents may have called, in all runs of this process, and in those of a state folder in 24 hours. */
export class RowBudget {
  readonly maxRows: number;
  /** Rows to call in each run of this process, by its id. */
  readonly #own = new Map<string, number>();

  constructor(maxRows: number) {
    this.maxRows = maxRows;
  }

  /**
   * Counts a run that was just planned, and saves it.
   *
   * @returns the rows left
   * @throws a usage error `BUDGET_EXCEEDED` when the run is too large, also where another process plans one at the same time
   */
  async take(store: RunStore, run: RunRecord, now = Date.now()): Promise<number> {
    const { callable } = run.plan;
    this.#own.set(run.id, callable);
    // Of two processes that plan at the same time, at least one sees the run of the other.
    await store.save(run);
    const taken = await this.#taken(store, now).catch((error: unknown) => {
      this.giveBack(run);
      throw error;
    });
    const left = this.maxRows - taken;
    if (left >= 0) return left;
    this.giveBack(run);
    throw usageError(
      'BUDGET_EXCEEDED',
      `The plan has ${counted(callable, 'call')}, and ${count(Math.max(0, left + callable))} of the ${count(this.maxRows)} rows of ` +
        '--max-rows are left: a person can run it, or start this server with another number.',
    );
  }

  /** Counts a run no longer that was never started. */
  giveBack({ id }: RunRecord): void {
    this.#own.delete(id);
  }

  /** @throws when a record can't be read: its rows can't be counted */
  async #taken(store: RunStore, now: number): Promise<number> {
    const others = (await store.list()).filter(
      ({ id, states: [planned] }) =>
        !this.#own.has(id) && planned?.by?.via === 'mcp' && now - Date.parse(planned.at) < dayMs,
    );
    return [...this.#own.values(), ...others.map(({ plan }) => plan.callable)].reduce((a, b) => a + b, 0);
  }
}
