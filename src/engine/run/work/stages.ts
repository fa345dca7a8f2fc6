import { counted } from '../../../base/text/format.ts';
import type { RowTask } from '../../queue/payload.ts';
import type { RowsFile } from '../../rows/rows-file.ts';
import { reconcile } from '../feed/reconcile.ts';
import { type RowSelection, unfinishedTasks } from '../feed/tasks.ts';
import { allowedRows, type StartedBudget } from '../record/budget.ts';
import type { OpenRun } from '../record/open-run.ts';
import type { RecordKeeper } from '../record/record-keeper.ts';
import { unfinishedRows } from '../record/run-journal.ts';
import { budgetSpent, type RunEnding } from '../record/run-outcome.ts';
import { canaryFailure, canaryResults, canaryRows, lastOf } from './canary.ts';
import type { ExecuteRunOptions } from './execution-options.ts';

export interface StagesOptions
  extends Pick<ExecuteRunOptions, 'confirmAfterCanary' | 'budget' | 'interrupt'> {
  readonly run: OpenRun;
  readonly rows: Pick<RowsFile, 'rows' | 'head'>;
  readonly keeper: RecordKeeper;
  readonly onError: (error: Error) => void;
}

/**
 * The canary, unless it was evaluated, then all other rows. A stage starts when all rows of the former have results. A budget of rows ends
 * the run when its rows are called.
 */
export class Stages {
  readonly #options: StagesOptions;
  /** Undefined without a canary, and after its evaluation. */
  #canary: ReadonlySet<number> | undefined;
  readonly #allowed: StartedBudget['rows'];

  static async begin(options: StagesOptions): Promise<Stages> {
    const { run, rows, budget, interrupt, onError } = options;
    const { record, datastore } = run;
    // Rows that workers still hold would be called beyond the budget, or although their entries have changed.
    const isBudgeted = budget?.maxRows !== undefined && record.budget?.begun === undefined;
    if ((isBudgeted || rows.head.compared !== undefined) && !datastore.exclusive)
      await reconcile(run, { signal: interrupt, onError });
    const hasCanary = record.options.canary !== undefined && record.canary?.wentOn !== true;
    const canary = hasCanary ? await canaryRows(record, rows) : undefined;
    return new Stages(options, canary, await allowed(options, canary));
  }

  private constructor(
    options: StagesOptions,
    canary: ReadonlySet<number> | undefined,
    allowed: StartedBudget['rows'],
  ) {
    this.#options = options;
    this.#canary = canary;
    this.#allowed = allowed;
  }

  /** Saves the budget for a coordinator that takes the run over. */
  async keepBudget(time: Pick<StartedBudget, 'until' | 'stopAt'> = {}): Promise<void> {
    const { budget, keeper } = this.#options;
    if (budget === undefined) return;
    keeper.change({
      budget: { ...budget, begun: { ...time, ...(this.#allowed && { rows: this.#allowed }) } },
    });
    await keeper.save();
  }

  tasks(): AsyncIterable<Iterable<RowTask>> {
    const {
      run: { record, journal },
      rows,
    } = this.#options;
    return unfinishedTasks(record.id, rows, journal, this.#selection);
  }

  /** Undefined: all rows. */
  get #selection(): RowSelection | undefined {
    const canary = this.#canary;
    const allowed = this.#allowed;
    if (canary === undefined) return allowed && { has: () => true, last: allowed.all };
    return {
      has: (row) => canary.has(row),
      last: Math.min(lastOf(canary), allowed?.canary ?? Number.POSITIVE_INFINITY),
    };
  }

  /**
   * Call this when all rows of a stage have results.
   *
   * @returns how the run ends, if it does
   */
  async next(signal: AbortSignal): Promise<RunEnding | undefined> {
    const { run, budget: { maxRows = 0 } = {} } = this.#options;
    const { journal, record } = run;
    const isDone = this.#allowed === undefined && this.#canary === undefined;
    const left = unfinishedRows(record, journal);
    if (isDone || left === 0) return { state: 'completed' };
    if (this.#canary === undefined || [...this.#canary].some((row) => !journal.isFinished(row)))
      return budgetSpent(
        `the ${counted(maxRows, 'row')} that --max-rows allows ${maxRows === 1 ? 'has' : 'have'} been called`,
      );
    const halt = await this.#evaluate(this.#canary, signal);
    if (halt === undefined) this.#canary = undefined;
    return halt;
  }

  async #evaluate(canary: ReadonlySet<number>, signal: AbortSignal): Promise<RunEnding | undefined> {
    const { run, rows: file, keeper, confirmAfterCanary } = this.#options;
    const { canary: options } = run.record.options;
    if (options === undefined) return undefined;
    const results = await canaryResults(run, file, canary);
    const { rows, failed } = results;
    const answer = await confirmAfterCanary?.(results, signal);
    if (signal.aborted) return { state: 'interrupted' };
    const halted = answer === undefined ? canaryFailure(results, options) : undefined;
    const wentOn = answer ?? halted === undefined;
    keeper.change({
      canary: { at: new Date().toISOString(), rows: rows.length, failed, wentOn },
    });
    await keeper.save();
    if (wentOn) return undefined;
    const declined = { reason: `stopped by you after the canary (${failed} of ${rows.length} failed)` };
    return { state: 'halted', because: 'canary', ...(halted ?? declined) };
  }
}

async function allowed(
  { run: { record, journal }, rows, budget: { maxRows } = {} }: StagesOptions,
  canary: ReadonlySet<number> | undefined,
): Promise<StartedBudget['rows']> {
  if (maxRows === undefined) return undefined;
  const begun = record.budget?.begun?.rows;
  if (begun !== undefined) return begun;
  const places: number[] = [];
  for await (const part of rows.rows())
    for (const { kind, place } of part)
      if (kind === 'callable' && !journal.isFinished(place)) places.push(place);
  return allowedRows(maxRows, places, record.plan.rows, canary);
}
