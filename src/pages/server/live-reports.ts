import { turns } from '../../base/async/waiting.ts';
import { withJournalReader } from '../../engine/run/record/run-journal.ts';
import type { RunStore } from '../../engine/run/record/store.ts';
import { pageOfRun } from '../../engine/run/report/report-run.ts';

/** Makes reports one at a time, because a large report keeps a processor busy for seconds. */
export function oneAtATime(make: (runId: string) => Promise<string>): (runId: string) => Promise<string> {
  const inTurn = turns();
  /** By run: reports that have not started, and so will include everything up to now. New requests share them. */
  const waiting = new Map<string, Promise<string>>();
  return (runId) => {
    const start = (): Promise<string> => {
      waiting.delete(runId);
      return make(runId);
    };
    const report = waiting.get(runId) ?? inTurn('', start);
    waiting.set(runId, report);
    return report;
  };
}

/** The current `PageContent` as JSON. @throws `RUN_UNKNOWN`, and the errors of reading the run */
export async function liveReport(store: RunStore, runId: string): Promise<string> {
  const record = await store.load(runId);
  const content = await withJournalReader(store, record, (journal) => pageOfRun(store, record, journal));
  return JSON.stringify(content);
}
