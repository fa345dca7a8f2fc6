import { onAbort } from '../../../base/async/waiting.ts';
import { count, counted } from '../../../base/text/format.ts';
import type { StopReason } from '../feed/coordinator.ts';
import { reconcile } from '../feed/reconcile.ts';
import type { RowSelection } from '../feed/tasks.ts';
import { allowedRows, type StartedBudget, startDeadline } from '../record/budget.ts';
import type { RunEnding, RunPause } from '../record/ending.ts';
import type { GuardHalt } from '../record/guards/guards.ts';
import { unfinishedRows } from '../record/run-journal.ts';
import { canaryResults, canaryRows, lastPlaceOf } from './canary.ts';
import type { OpenPart, RunEvent, RunInProgress, RunPart, StopPhase } from './run-in-progress.ts';

/** Opens the canary and the budget of a run. */
export const openStages: OpenPart = async (inProgress, defer) => {
  const { run, rows, keeper, options, onError } = inProgress;
  const { budget, handOver, interrupt } = options;
  const { record, datastore } = run;
  const deadline = budget && (await startDeadline(budget, record.budget?.begun));
  defer(() => deadline?.close());
  // Rows that workers still hold would be called beyond the budget, or although their entries have changed.
  const isBudgeted = budget?.maxRows !== undefined && record.budget?.begun === undefined;
  if ((isBudgeted || rows.head.compared !== undefined) && !datastore.exclusive)
    await reconcile(run, { signal: interrupt, onError });
  const hasCanary = record.options.canary !== undefined && record.canary?.wentOn !== true;
  const canary = hasCanary ? await canaryRows(record, rows) : undefined;
  const allowed = await rowsAllowedBy(inProgress, canary);
  if (handOver && budget !== undefined) {
    // A coordinator that takes the run over keeps to what is left of the budget.
    keeper.change({
      budget: { ...budget, begun: { ...deadline?.started, ...(allowed && { rows: allowed }) } },
    });
    await keeper.save();
  }
  return new Stages(inProgress, canary, allowed, deadline?.signal);
};

/**
 * The canary, unless it was evaluated, then all other rows. A stage starts when all rows of the former have results. A budget of rows ends
 * the run when its rows are called.
 */
class Stages implements RunPart {
  readonly #inProgress: RunInProgress;
  /** The places of the canary. Undefined without a canary, and after its evaluation. */
  #canary: ReadonlySet<number> | undefined;
  /** Whether the run is paused until a user has looked at its canary. */
  #awaitsUser = false;
  readonly #rowsAllowed: StartedBudget['rows'];
  readonly #deadline: AbortSignal | undefined;

  constructor(
    inProgress: RunInProgress,
    canary: ReadonlySet<number> | undefined,
    allowed: StartedBudget['rows'],
    deadline: AbortSignal | undefined,
  ) {
    this.#inProgress = inProgress;
    this.#canary = canary;
    this.#rowsAllowed = allowed;
    this.#deadline = deadline;
  }

  seeEvent(event: RunEvent): void {
    const { keeper } = this.#inProgress;
    const { canary } = keeper.record;
    if (!this.#awaitsUser || event.type !== 'paused' || event.paused || canary === undefined) return;
    this.#awaitsUser = false;
    this.#canary = undefined;
    // The record is saved with its new state, so that a killed run has either both or neither.
    keeper.change({ canary: { ...canary, wentOn: true } });
  }

  onStop(_phase: StopPhase, stop: (reason: StopReason) => void): () => void {
    const deadline = this.#deadline;
    if (deadline === undefined) return () => {};
    return onAbort(deadline, () => {
      const halt = this.#inProgress.guards.takeNews({ spentBudget: String(deadline.reason) });
      if (halt !== undefined) stop(halt);
    });
  }

  selection(): RowSelection | undefined {
    const canary = this.#canary;
    const allowed = this.#rowsAllowed;
    if (canary === undefined) return allowed && { has: () => true, last: allowed.all };
    return {
      has: (row) => canary.has(row),
      last: Math.min(lastPlaceOf(canary), allowed?.canary ?? Number.POSITIVE_INFINITY),
    };
  }

  async nextStage(signal: AbortSignal): Promise<RunEnding | GuardHalt | RunPause | undefined> {
    const { run, guards, options } = this.#inProgress;
    const { maxRows = 0 } = options.budget ?? {};
    const { journal, record } = run;
    const isDone = this.#rowsAllowed === undefined && this.#canary === undefined;
    const left = unfinishedRows(record, journal);
    if (isDone || left === 0) return { state: 'completed' };
    if (this.#canary === undefined || [...this.#canary].some((row) => !journal.isFinished(row))) {
      const verb = maxRows === 1 ? 'has' : 'have';
      const spentBudget = `the ${counted(maxRows, 'row')} that --max-rows allows ${verb} been called`;
      return guards.takeNews({ spentBudget });
    }
    const end = await this.#evaluate(this.#canary, signal);
    if (end === undefined) this.#canary = undefined;
    return end;
  }

  async #evaluate(
    canary: ReadonlySet<number>,
    signal: AbortSignal,
  ): Promise<RunEnding | GuardHalt | RunPause | undefined> {
    const { run, rows: file, guards, keeper, options } = this.#inProgress;
    const { pause, random } = run.record.options.canary ?? {};
    const results = await canaryResults(run, file, canary);
    const isAccepted = await options.confirmAfterCanary?.(results, signal);
    if (signal.aborted) return { state: 'interrupted' };
    const { failedRows, failures } = results;
    const rows = results.rows.length;
    const halt = guards.takeNews({ canary: { rows, failed: failedRows, failures, isAccepted } });
    const awaitsUser = pause === true && halt === undefined && isAccepted === undefined;
    const wentOn = isAccepted ?? (halt === undefined && !awaitsUser);
    // A run that was killed in the pause keeps the time of its pause: its user may have ended the pause meanwhile.
    const at = (awaitsUser && keeper.record.canary?.at) || new Date().toISOString();
    keeper.change({ canary: { at, rows, failed: failedRows, wentOn } });
    await keeper.save();
    if (!awaitsUser) return halt;
    this.#awaitsUser = true;
    return { state: 'paused', because: 'canary', reason: pauseReason(rows, failedRows, random) };
  }
}

function pauseReason(rows: number, failed: number, random = false): string {
  const few = rows === 1 ? 'the first row is' : `the first ${count(rows)} rows are`;
  const which = random ? `the ${counted(rows, 'random row', ['is', 'are'])}` : few;
  return `${which} done, ${count(failed)} failed: look at them, then continue`;
}

async function rowsAllowedBy(
  { run: { record, journal }, rows, options }: RunInProgress,
  canary: ReadonlySet<number> | undefined,
): Promise<StartedBudget['rows']> {
  const { maxRows } = options.budget ?? {};
  if (maxRows === undefined) return undefined;
  const begun = record.budget?.begun?.rows;
  if (begun !== undefined) return begun;
  const places: number[] = [];
  for await (const part of rows.rows())
    for (const { kind, place } of part)
      if (kind === 'callable' && !journal.isFinished(place)) places.push(place);
  return allowedRows(maxRows, places, record.plan.rows, canary);
}
