import type { OutcomeCounts } from '../../../domain/terms.ts';
import { actualState, goesOnByItself, plannedAt, type RunState } from '../record/record.ts';
import { progressOf } from '../record/run-journal.ts';
import type { RunStore } from '../record/store.ts';

/** The latest run of a manifest that has called rows, or may still call some. */
export interface EarlierRun {
  readonly id: string;
  /** When the run started or was submitted. */
  readonly at: string;
  readonly state: RunState;
  readonly rows: number;
  /** The results of its rows, counted by outcome. Absent when the journal is unreadable. */
  readonly counts?: OutcomeCounts | undefined;
  /** The number of other such runs, without retries. */
  readonly otherRuns: number;
}

/** Finds a run on the same API, in this state folder. */
export async function findEarlierRun(
  store: RunStore,
  sha256: string,
  baseUrl: string,
): Promise<EarlierRun | undefined> {
  const runs = (await store.list(() => {})).filter(
    ({ manifest, options, state }) =>
      state !== 'planned' && options.baseUrl === baseUrl && manifest.sha256 === sha256,
  );
  // A --skip-done of a run includes what its retries have done.
  const firsts = runs.filter(({ retryOf }) => retryOf === undefined);
  const candidates = (firsts.length > 0 ? firsts : runs).toReversed();
  for (const [newer, record] of candidates.entries()) {
    const { id, plan, states } = record;
    const counts = (await progressOf(store, record).catch(() => undefined))?.outcomes;
    if (counts !== undefined && counts.succeeded + counts.failed === 0 && !goesOnByItself(record)) continue;
    return {
      id,
      at: states.find(({ state }) => state !== 'planned')?.at ?? plannedAt(record),
      state: actualState(record),
      rows: plan.rows,
      counts,
      otherRuns: Math.max(firsts.length - 1 - newer, 0),
    };
  }
  return undefined;
}
