import type { OutcomeCounts } from '../../domain.ts';
import { actualState, goesOnByItself, plannedAt, type RunState } from '../record/record.ts';
import { progressOf } from '../record/run-journal.ts';
import type { RunStore } from '../record/store.ts';

/** The latest run of a manifest that has called something, or may yet. */
export interface EarlierRun {
  readonly id: string;
  /** When it started or was submitted, ISO 8601 UTC. */
  readonly at: string;
  readonly state: RunState;
  readonly rows: number;
  /** Absent when its journal can't be read. */
  readonly counts?: OutcomeCounts;
  /** How many other runs of the manifest there are, without retries. */
  readonly others: number;
}

/**
 * Finds out whether a run of this state folder has called the rows of a manifest on the same API before.
 *
 * @param sha256 of the content of the manifest
 */
export async function findEarlierRun(
  store: RunStore,
  sha256: string,
  baseUrl: string,
): Promise<EarlierRun | undefined> {
  const runs = (await store.list(() => {})).filter(
    ({ manifest, options, state }) =>
      state !== 'planned' &&
      options.baseUrl === baseUrl &&
      (manifest.givenSha256 ?? manifest.sha256) === sha256,
  );
  // --skip-done of a run leaves out what its retries have done, too.
  const firsts = runs.filter(({ retryOf }) => retryOf === undefined);
  const candidates = (firsts.length > 0 ? firsts : runs).toReversed();
  for (const [newer, record] of candidates.entries()) {
    const { id, plan, states } = record;
    const counts = (await progressOf(store, record).catch(() => undefined))?.outcomes;
    // A run that has called nothing, and will call nothing by itself, tells of nothing that was done.
    if (counts !== undefined && counts.succeeded + counts.failed === 0 && !goesOnByItself(record)) continue;
    return {
      id,
      at: states.find(({ state }) => state !== 'planned')?.at ?? plannedAt(record),
      state: actualState(record),
      rows: plan.rows,
      ...(counts !== undefined && { counts }),
      others: Math.max(firsts.length - 1 - newer, 0),
    };
  }
  return undefined;
}
