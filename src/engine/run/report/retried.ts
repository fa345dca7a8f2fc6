import { retriesAfter, retriesAmong, unfinishedAmong } from '../plan/retries.ts';
import { hasRowsToRetry } from '../plan/rows-with-results.ts';
import type { RunRecord } from '../record/record.ts';
import type { ReportedFacts } from '../record/run-steps.ts';
import type { RunStore } from '../record/store.ts';

/** What later retries have done about the failed rows of a run. */
export async function retriedFacts(
  store: RunStore,
  record: RunRecord,
  runs?: readonly RunRecord[],
): Promise<Pick<ReportedFacts, 'isCured' | 'unfinishedRetry'>> {
  try {
    const later = retriesAfter(retriesAmong(runs ?? (await store.list()), record), record);
    const unfinishedRetry = unfinishedAmong(later)?.id;
    if (later.length === 0) return {};
    if (unfinishedRetry !== undefined) return { unfinishedRetry };
    return { isCured: !(await hasRowsToRetry(store, record, later)) };
  } catch {
    // A damaged run is passed over: it is not this run.
    return {};
  }
}
