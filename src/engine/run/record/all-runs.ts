import { apiText } from '../../../domain/terms.ts';
import type { Cluster } from '../../cluster/cluster.ts';
import { isActive, isPresent, type RunEntry } from '../../cluster/entries.ts';
import { runAhead } from '../../cluster/run-ahead.ts';
import type { JournalReader } from '../../journal/journal.ts';
import { actualState, type RunRecord } from './record.ts';
import {
  type JournalSummary,
  type KnownSummary,
  openJournalReader,
  summaryOf,
  summaryOfRecord,
} from './run-journal.ts';
import { type LiveApi, type LiveRun, liveApi, type RunView, viewOfEntry, viewOfRecord } from './run-view.ts';
import type { RunStore } from './store.ts';

/** Runs are newest first. */
export interface ClusterLook {
  readonly entries: readonly RunEntry[];
  /** Keys are texts of `apiText`. */
  readonly apis: ReadonlyMap<string, LiveApi>;
}

export async function lookAtCluster(cluster: Cluster): Promise<ClusterLook> {
  const entries = (await cluster.runs()).toSorted((a, b) => (a.startedAt < b.startedAt ? 1 : -1));
  const apis = [...new Map(entries.map((entry) => [apiText(entry), entry]))];
  const live = apis.map(async ([text, api]) => [text, await liveApi(cluster, api)] as const);
  return { entries, apis: new Map(await Promise.all(live)) };
}

/** @param newer how many runs of the same place are newer */
export type IsWanted = (id: string, state: string, newer: number) => boolean;

/**
 * The runs of a state folder and of a shared datastore. Caches journals, for polling.
 *
 * @param onUnreadable called at each look for each damaged run
 */
export function allRuns(store: RunStore, onUnreadable: (error: Error) => void) {
  const journals = new Map<string, JournalReader>();
  /** `entered` counts the states that the run had then. */
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

  return {
    /** Runs of the state folder, newest first, then runs of other machines. */
    async look(cluster: ClusterLook | undefined, isWanted: IsWanted): Promise<readonly RunView[]> {
      const records = (await store.list(onUnreadable)).toReversed();
      const views: RunView[] = [];
      for (const [newer, record] of records.entries()) {
        if (!isWanted(record.id, actualState(record), newer)) continue;
        const view = await summaryFor(record)
          .then((summary) => viewOfRecord(store, record, liveRunIn(cluster, record.id), summary))
          .catch((error: Error) => void onUnreadable(error));
        if (view !== undefined) views.push(view);
      }
      const here = new Set(records.map(({ id }) => id));
      await forgetOthers(here);
      const elsewhere = (cluster?.entries ?? [])
        .filter(({ id }) => !here.has(id))
        .map((entry) => viewOfEntry(entry, liveRunIn(cluster, entry.id)));
      return [...views, ...elsewhere.filter(({ id, state }, newer) => isWanted(id, state, newer))];
    },
    close: () => forgetOthers(new Set()),
  };
}

function liveRunIn(cluster: ClusterLook | undefined, id: string): LiveRun | undefined {
  if (cluster === undefined) return undefined;
  const entry = cluster.entries.find((each) => each.id === id);
  if (entry === undefined) return { entry, workers: [], pace: undefined };
  const api = apiText(entry);
  const others = cluster.entries.filter((each) => isPresent(each) && apiText(each) === api);
  return { entry, workers: [], pace: undefined, ...cluster.apis.get(api), ahead: runAhead(entry, others) };
}
