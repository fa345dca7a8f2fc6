import { type Cluster, openCluster } from '../../cluster/cluster.ts';
import type { RunEntry } from '../../cluster/entries.ts';
import { CqbatchError, usageError } from '../../errors.ts';
import type { RunRecord } from '../../run/record.ts';
import type { RunStore } from '../../run/store.ts';
import type { DatastoreChoice } from '../datastore.ts';

/** A run that is wanted: of this state folder, or one that only the shared datastore knows. */
export type FoundRun = { readonly record: RunRecord } | { readonly entry: RunEntry };

/**
 * Finds the run of that id, or the newest one, in the state folder, else in the shared datastore.
 *
 * @throws a usage error `RUN_UNKNOWN` when neither has it.
 */
export async function findRun(
  store: RunStore,
  datastore: DatastoreChoice,
  id: string | undefined,
): Promise<FoundRun> {
  try {
    return { record: await store.load(id) };
  } catch (error) {
    if (!(error instanceof CqbatchError) || error.code !== 'RUN_UNKNOWN') throw error;
    if (datastore.queue === undefined) throw error;
    const entry = (await newestEntries(datastore)).find((run) => id === undefined || run.id === id);
    if (entry !== undefined) return { entry };
    const what = id === undefined ? 'no run' : `no run ${id}`;
    throw usageError(
      'RUN_UNKNOWN',
      `There is ${what}, neither in ${store.stateDir} nor in ${datastore.queue}.`,
    );
  }
}

/** The runs that a shared datastore knows, newest first. */
export async function newestEntries(datastore: DatastoreChoice): Promise<readonly RunEntry[]> {
  const runs = await withCluster(datastore, 'look', (cluster) => cluster.runs());
  return runs.toSorted((a, b) => (a.startedAt < b.startedAt ? 1 : -1));
}

/** Opens the shared datastore to see who is there. */
export async function withCluster<Result>(
  datastore: DatastoreChoice,
  purpose: string,
  look: (cluster: Cluster) => Promise<Result>,
): Promise<Result> {
  const opened = await datastore.open(purpose);
  try {
    return await look(openCluster(opened));
  } finally {
    await opened.close();
  }
}
