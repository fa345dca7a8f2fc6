import { retriesAfter, retriesAmong, unfinishedAmong } from '../plan/retries.ts';
import { hasRowsToRetry } from '../plan/rows-with-results.ts';
import type { RunRecord } from '../record/record.ts';
import type { ReportedFacts } from '../record/run-steps.ts';
import type { RunStore } from '../record/store.ts';

/** The retries after a run. None if they can't be read: a damaged run is no reason for another one to fail. */
export async function laterRetries(
  store: RunStore,
  record: RunRecord,
  runs?: readonly RunRecord[],
): Promise<readonly RunRecord[]> {
  try {
    return retriesAfter(retriesAmong(runs ?? (await store.list()), record), record);
  } catch {
    return [];
  }
}

/** What later retries have done about the failed rows of a run. */
export async function retriedFacts(
  store: RunStore,
  record: RunRecord,
  later: readonly RunRecord[],
): Promise<Pick<ReportedFacts, 'isCured' | 'unfinishedRetry'>> {
  if (later.length === 0) return {};
  const unfinishedRetry = unfinishedAmong(later);
  if (unfinishedRetry !== undefined) return { unfinishedRetry };
  try {
    return { isCured: !(await hasRowsToRetry(store, record, later)) };
  } catch {
    // A damaged run is passed over: it is not this run.
    return {};
  }
}
