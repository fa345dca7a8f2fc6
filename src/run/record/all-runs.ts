import type { Cluster } from '../../cluster/cluster.ts';
import { isActive, isPresent, type RunEntry } from '../../cluster/entries.ts';
import type { JournalReader } from '../../journal/journal.ts';
import { actualState, type RunRecord } from './record.ts';
import { type JournalSummary, openJournalReader, summaryOf, summaryOfRecord } from './run-journal.ts';
import { type LiveRun, type RunView, viewOfEntry, viewOfRecord } from './run-view.ts';
import type { RunStore } from './store.ts';

/** How an API is called, by whom. */
export type LiveApi = Omit<LiveRun, 'entry'>;

/** What a shared datastore tells at one moment of all runs, the newest first, and of the APIs that they call. */
export interface ClusterLook {
  readonly entries: readonly RunEntry[];
  /** By base URL. */
  readonly apis: ReadonlyMap<string, LiveApi>;
}

/** @param baseUrls of APIs that are wanted besides those of the runs */
export async function lookAtCluster(
  cluster: Cluster,
  baseUrls: readonly string[] = [],
): Promise<ClusterLook> {
  const entries = (await cluster.runs()).toSorted((a, b) => (a.startedAt < b.startedAt ? 1 : -1));
  const wanted = [...new Set([...entries.map(({ baseUrl }) => baseUrl), ...baseUrls])];
  const apis = await Promise.all(
    wanted.map(async (baseUrl): Promise<[string, LiveApi]> => {
      const [workers, pace] = await Promise.all([cluster.workers(baseUrl), cluster.pace(baseUrl)]);
      return [baseUrl, { workers, pace: pace && isPresent(pace) ? pace : undefined }];
    }),
  );
  return { entries, apis: new Map(apis) };
}

/** Which runs are wanted. @param newer how many runs of the same place are newer */
export type IsWanted = (id: string, state: string, newer: number) => boolean;

/**
 * The runs of a state folder and of a shared datastore, for who looks at them again and again: what was read of a journal
 * once is not read again.
 */
export class AllRuns {
  readonly #store: RunStore;
  readonly #onUnreadable: (error: Error) => void;
  /** Of runs that were going at the last look. */
  readonly #journals = new Map<string, JournalReader>();
  /** Of runs that had ended, with the state that this was. */
  readonly #ended = new Map<string, { readonly entered: number; readonly summary: JournalSummary }>();

  /** @param onUnreadable hears of runs that are damaged, at each look; they are left out */
  constructor(store: RunStore, onUnreadable: (error: Error) => void) {
    this.#store = store;
    this.#onUnreadable = onUnreadable;
  }

  /**
   * Of runs that have ended only their records are read, where these tell enough.
   *
   * @returns those of the state folder, the newest first, then those of other machines
   */
  async look(seen: ClusterLook | undefined, isWanted: IsWanted): Promise<readonly RunView[]> {
    const records = (await this.#store.list(this.#onUnreadable)).toReversed();
    const views: RunView[] = [];
    for (const [newer, record] of records.entries()) {
      if (!isWanted(record.id, actualState(record), newer)) continue;
      const view = await this.#briefly(record, seen).catch((error: Error) => void this.#onUnreadable(error));
      if (view !== undefined) views.push(view);
    }
    const here = new Set(records.map(({ id }) => id));
    await this.#forgetOthers(here);
    const elsewhere = (seen?.entries ?? [])
      .filter(({ id }) => !here.has(id))
      .map((entry) => viewOfEntry(entry, liveOf(entry, seen)));
    return [...views, ...elsewhere.filter(({ id, state }, newer) => isWanted(id, state, newer))];
  }

  async close(): Promise<void> {
    await this.#forgetOthers(new Set());
  }

  async #briefly(record: RunRecord, seen: ClusterLook | undefined): Promise<RunView> {
    const known = this.#journals.has(record.id) ? undefined : summaryOfRecord(record);
    const summary = known ?? (await this.#summaryOf(record));
    return viewOfRecord(this.#store, record, liveRunOf(record, seen), summary);
  }

  async #summaryOf(record: RunRecord): Promise<JournalSummary> {
    const { id, states } = record;
    const known = this.#ended.get(id);
    if (known?.entered === states.length) return known.summary;
    const journal = this.#journals.get(id) ?? (await openJournalReader(this.#store, record));
    this.#journals.set(id, journal);
    let summary: JournalSummary;
    try {
      await journal.refresh();
      summary = summaryOf(record, journal);
    } catch (error) {
      await this.#closeJournal(id);
      throw error;
    }
    if (!isActive(actualState(record))) {
      this.#ended.set(id, { entered: states.length, summary });
      await this.#closeJournal(id);
    }
    return summary;
  }

  async #closeJournal(id: string): Promise<void> {
    await this.#journals.get(id)?.close();
    this.#journals.delete(id);
  }

  async #forgetOthers(ids: ReadonlySet<string>): Promise<void> {
    for (const id of this.#journals.keys()) if (!ids.has(id)) await this.#closeJournal(id);
    for (const id of this.#ended.keys()) if (!ids.has(id)) this.#ended.delete(id);
  }
}

function liveRunOf(
  { id, options: { baseUrl } }: RunRecord,
  seen: ClusterLook | undefined,
): LiveRun | undefined {
  if (seen === undefined) return undefined;
  const entry = seen.entries.find((each) => each.id === id);
  const nobody = { entry, workers: [], pace: undefined };
  return entry === undefined ? nobody : { ...(liveOf({ baseUrl }, seen) ?? nobody), entry };
}

function liveOf({ baseUrl }: Pick<RunEntry, 'baseUrl'>, seen: ClusterLook | undefined): LiveRun | undefined {
  const api = seen?.apis.get(baseUrl);
  return api && { ...api, entry: undefined };
}
