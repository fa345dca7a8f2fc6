import { withJournalReader } from '../run/record/run-journal.ts';
import type { RunStore } from '../run/record/store.ts';
import { pageOfRun } from '../run/report/report-run.ts';

/**
 * Makes reports of runs when one is asked for, one at a time: a large one keeps a processor busy for seconds.
 *
 * @returns a function that rejects with what `make` throws
 */
export function oneAtATime(make: (runId: string) => Promise<string>): (runId: string) => Promise<string> {
  /** Reports that have not started: they will tell of all that has happened until now. */
  const waiting = new Map<string, Promise<string>>();
  let last: Promise<unknown> = Promise.resolve();
  return (runId) => {
    const known = waiting.get(runId);
    if (known !== undefined) return known;
    const made = last.then(() => {
      waiting.delete(runId);
      return make(runId);
    });
    waiting.set(runId, made);
    last = made.catch(() => {});
    return made;
  };
}

/**
 * How a run and its rows stand.
 *
 * @returns `PageContent` as JSON
 * @throws `RUN_UNKNOWN`, and what reading the run throws
 */
export async function liveReport(store: RunStore, runId: string): Promise<string> {
  const record = await store.load(runId);
  const content = await withJournalReader(store, record, (journal) => pageOfRun(store, record, journal));
  return JSON.stringify(content);
}
