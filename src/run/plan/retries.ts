import { isOver, plannedAt, type RunRecord } from '../record/record.ts';
import type { RunStore } from '../record/store.ts';

/** A run with all that was made of it by `retry`, also by a retry of a retry. */
export interface RetriedRun {
  /** The run that was planned from a manifest which the user gave, or the oldest that is still there. */
  readonly first: RunRecord;
  /** The oldest first. */
  readonly retries: readonly RunRecord[];
}

/** A run with its retries, from the name of any of them. */
export async function findRetries(store: RunStore, named: RunRecord): Promise<RetriedRun> {
  return retriesAmong(await store.list(), named);
}

/** @param runs the oldest first */
export function retriesAmong(runs: readonly RunRecord[], named: RunRecord): RetriedRun {
  const byId = new Map(runs.map((run) => [run.id, run]));
  const firstOf = (run: RunRecord): RunRecord => {
    const before = run.rowNumbers === undefined ? undefined : byId.get(run.retryOf ?? '');
    // The id of one that was removed may have been given again.
    return before === undefined || plannedAt(before) >= plannedAt(run) ? run : firstOf(before);
  };
  const first = firstOf(named);
  return { first, retries: runs.filter((run) => run.id !== first.id && firstOf(run).id === first.id) };
}

/** The retries that were made after a run of them. */
export function retriesAfter({ retries }: RetriedRun, { id }: RunRecord): readonly RunRecord[] {
  // Not found: it is the first one, before all of them.
  return retries.slice(retries.findIndex((retry) => retry.id === id) + 1);
}

/** The runs that took back what a run has done. @param runs the oldest first */
export function undosOf(runs: readonly RunRecord[], undone: RunRecord): readonly RunRecord[] {
  return runs.filter((run) => run.undoOf === undone.id && plannedAt(run) > plannedAt(undone));
}

/** A retry that has not come to its end: it may yet call rows of the run. */
export function unfinishedAmong(retries: readonly RunRecord[]): RunRecord | undefined {
  return retries.find((retry) => !isOver(retry));
}
