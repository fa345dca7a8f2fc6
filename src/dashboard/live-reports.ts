import { withJournalReader } from '../run/record/run-journal.ts';
import type { RunStore } from '../run/record/store.ts';
import { pageOfRun } from '../run/report/report-run.ts';

/** Makes reports of runs when somebody asks for one, one at a time: a large one keeps a processor busy for seconds. */
export class LiveReports {
  readonly #make: (runId: string) => Promise<string>;
  /** Those that are not begun yet: they will tell of all that has happened until now. */
  readonly #waiting = new Map<string, Promise<string>>();
  #last: Promise<unknown> = Promise.resolve();

  constructor(make: (runId: string) => Promise<string>) {
    this.#make = make;
  }

  /** @throws what making it throws */
  of(runId: string): Promise<string> {
    const waiting = this.#waiting.get(runId);
    if (waiting !== undefined) return waiting;
    const made = this.#last.then(() => {
      this.#waiting.delete(runId);
      return this.#make(runId);
    });
    this.#waiting.set(runId, made);
    this.#last = made.catch(() => {});
    return made;
  }
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
