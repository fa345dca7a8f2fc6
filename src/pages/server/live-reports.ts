import { withJournalReader } from '../../engine/run/record/run-journal.ts';
import type { RunStore } from '../../engine/run/record/store.ts';
import { pageOfRun } from '../../engine/run/report/report-run.ts';

/** Makes reports one at a time, because a large report keeps a processor busy for seconds. */
export function oneAtATime(make: (runId: string) => Promise<string>): (runId: string) => Promise<string> {
  /** By run: reports that have not started, and so will include everything up to now. New requests share them. */
  const waiting = new Map<string, Promise<string>>();
  let last: Promise<unknown> = Promise.resolve();
  return (runId) => {
    const shared = waiting.get(runId);
    if (shared !== undefined) return shared;
    const made = last.then(() => {
      waiting.delete(runId);
      return make(runId);
    });
    waiting.set(runId, made);
    last = made.catch(() => {});
    return made;
  };
}

/** The current `PageContent` as JSON. @throws `RUN_UNKNOWN`, and the errors of reading the run */
export async function liveReport(store: RunStore, runId: string): Promise<string> {
  const record = await store.load(runId);
  const content = await withJournalReader(store, record, (journal) => pageOfRun(store, record, journal));
  return JSON.stringify(content);
}
