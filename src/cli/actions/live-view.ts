import { openCluster } from '../../cluster/cluster.ts';
import { isPresent, type PublishedPace, type RunEntry, type WorkerEntry } from '../../cluster/entries.ts';
import type { DatastoreChoice } from '../datastore.ts';

/** What the shared datastore tells of a run at the moment. */
export interface LiveRun {
  readonly entry: RunEntry | undefined;
  /** Workers that call its API, on all machines. */
  readonly workers: readonly WorkerEntry[];
  /** How they call it. */
  readonly pace?: PublishedPace;
}

/** A view of what the processes of a shared datastore say of themselves. */
export interface LiveView {
  of(runId: string): Promise<LiveRun>;
  close(): Promise<void>;
}

/** @returns undefined for the embedded datastore, which only one process can look into. */
export async function openLiveView(choice: DatastoreChoice): Promise<LiveView | undefined> {
  if (choice.queue === undefined) return undefined;
  const datastore = await choice.open('look');
  const cluster = openCluster(datastore);
  return {
    async of(runId) {
      const entry = await cluster.run(runId);
      if (entry === undefined) return { entry, workers: [] };
      const workers = await cluster.workers(entry.baseUrl);
      const pace = await cluster.pace(entry.baseUrl);
      return {
        entry,
        workers,
        ...(pace !== undefined && isPresent(pace) && { pace }),
      };
    },
    async close() {
      await datastore.close();
    },
  };
}

/** A run's entry, as long as the process that wrote it is there. */
export function presentEntry(entry: RunEntry | undefined): RunEntry | undefined {
  return entry !== undefined && isPresent(entry) ? entry : undefined;
}
