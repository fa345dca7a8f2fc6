import { turnsByKey } from '../../base/async/waiting.ts';
import { factsOfRecord } from '../../engine/run/facts/make-facts.ts';
import { summaryOf, withJournalReader } from '../../engine/run/record/run-journal.ts';
import type { RunStore } from '../../engine/run/record/store.ts';
import { pageOfRun } from '../../engine/run/report/report-run.ts';
import { runData } from './overview.ts';
import type { LiveReport } from './page-data.ts';

/** Makes reports one at a time, because a large report keeps a processor busy for seconds. */
export function oneAtATime(make: (runId: string) => Promise<string>): (runId: string) => Promise<string> {
  const inTurn = turnsByKey();
  /** The reports that have not started, by run. They will include everything up to now, so new requests share them. */
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

/** A `LiveReport` as JSON: rows and facts of one reading of the journal. @throws `RUN_UNKNOWN`, and the errors of reading the run */
export async function liveReport(store: RunStore, runId: string): Promise<string> {
  const record = await store.load(runId);
  const report = await withJournalReader(store, record, async (journal): Promise<LiveReport> => {
    const facts = runData(await factsOfRecord(store, record, undefined, summaryOf(record, journal)));
    return { ...(await pageOfRun(store, record, journal)), facts };
  });
  return JSON.stringify(report);
}
