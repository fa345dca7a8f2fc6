import { isActive } from '../../cluster/entries.ts';
import type { JournalReader } from '../../journal/journal.ts';
import { actualState, type RunRecord } from '../record/record.ts';
import {
  type JournalSummary,
  type KnownSummary,
  openJournalReader,
  summaryOf,
  summaryOfRecord,
} from '../record/run-journal.ts';
import type { RunStore } from '../record/store.ts';
import { type ClusterSnapshot, runInCluster } from './live-run.ts';
import { factsOfEntry, factsOfRecord } from './make-facts.ts';
import type { RunFacts } from './run-facts.ts';

/** @param newer the number of newer runs of the same place */
export type IsWanted = (id: string, state: string, newer: number) => boolean;

/**
 * The runs of a state folder and of a shared datastore. Caches journals, for polling.
 *
 * @param onUnreadable called at each reading for each damaged run
 */
export function allRuns(store: RunStore, onUnreadable: (error: Error) => void) {
  const journals = new Map<string, JournalReader>();
  /** Summaries of ended runs, by id. `entered` counts the states that the run had when its journal was read. */
  const ended = new Map<string, { readonly entered: number; readonly summary: JournalSummary }>();

  async function closeJournal(id: string): Promise<void> {
    await journals.get(id)?.close();
    journals.delete(id);
  }
  async function forgetOthers(ids: ReadonlySet<string>): Promise<void> {
    for (const id of journals.keys()) if (!ids.has(id)) await closeJournal(id);
    for (const id of ended.keys()) if (!ids.has(id)) ended.delete(id);
  }
  async function summaryFor(record: RunRecord): Promise<KnownSummary> {
    const { id, states } = record;
    const known = journals.has(id) ? undefined : summaryOfRecord(record);
    if (known !== undefined) return known;
    const cached = ended.get(id);
    if (cached?.entered === states.length) return cached.summary;
    const journal = journals.get(id) ?? (await openJournalReader(store, record));
    journals.set(id, journal);
    let goesOn = false;
    try {
      await journal.refresh();
      const summary = summaryOf(record, journal);
      goesOn = isActive(actualState(record));
      if (!goesOn) ended.set(id, { entered: states.length, summary });
      return summary;
    } finally {
      if (!goesOn) await closeJournal(id);
    }
  }

  let newestId: string | undefined;
  return {
    /** The newest run of the state folder, by the latest reading. */
    get newestId(): string | undefined {
      return newestId;
    },
    /** Runs of the state folder, newest first, then runs of other machines. */
    async read(cluster: ClusterSnapshot | undefined, isWanted: IsWanted): Promise<readonly RunFacts[]> {
      const records = (await store.list(onUnreadable)).toReversed();
      newestId = records[0]?.id;
      const found: RunFacts[] = [];
      for (const [newer, record] of records.entries()) {
        if (!isWanted(record.id, actualState(record), newer)) continue;
        const facts = await summaryFor(record)
          .then((summary) => factsOfRecord(store, record, runInCluster(cluster, record.id), summary))
          .catch((error: Error) => void onUnreadable(error));
        if (facts !== undefined) found.push(facts);
      }
      const here = new Set(records.map(({ id }) => id));
      await forgetOthers(here);
      const elsewhere = (cluster?.entries ?? [])
        .filter(({ id }) => !here.has(id))
        .map((entry) => factsOfEntry(entry, runInCluster(cluster, entry.id), store.completed));
      return [...found, ...elsewhere.filter(({ id, state }, newer) => isWanted(id, state, newer))];
    },
    close: () => forgetOthers(new Set()),
  };
}
