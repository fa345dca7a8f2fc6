import { apiText, type LimitedApi } from '../../../domain/terms.ts';
import type { Cluster } from '../../cluster/cluster.ts';
import {
  isPresent,
  type PublishedPace,
  paceSeenBy,
  type RunEntry,
  type WorkerEntry,
} from '../../cluster/entries.ts';
import { findRunAhead, runAhead } from '../../cluster/run-ahead.ts';

/** What the shared datastore knows of an API. */
interface ApiInCluster {
  /** Workers on all machines. */
  readonly workers: readonly WorkerEntry[];
  /** The pace of the API. Undefined without a leading worker. */
  readonly pace: PublishedPace | undefined;
}

/** What the shared datastore knows of a run. */
export interface RunInCluster extends ApiInCluster {
  readonly entry: RunEntry | undefined;
  /** Which runs are called before this run, as `runAhead` says. */
  readonly ahead?: string | undefined;
}

export async function liveRun(cluster: Cluster, runId: string): Promise<RunInCluster> {
  const entry = await cluster.run(runId);
  if (entry === undefined) return { entry, workers: [], pace: undefined };
  const api = await liveApi(cluster, entry);
  return { entry, ...api, ahead: await findRunAhead(cluster, entry, api.pace) };
}

async function liveApi(cluster: Cluster, api: LimitedApi): Promise<ApiInCluster> {
  const [workers, pace] = await Promise.all([cluster.workers(api), cluster.pace(api)]);
  return { workers, pace: paceSeenBy(workers, pace && isPresent(pace) ? pace : undefined) };
}

/** What a shared datastore knows of all runs at one moment. Runs are newest first. */
export interface ClusterSnapshot {
  readonly entries: readonly RunEntry[];
  /** What is known of each API, by the text of `apiText`. */
  readonly apis: ReadonlyMap<string, ApiInCluster>;
}

export async function readCluster(cluster: Cluster): Promise<ClusterSnapshot> {
  const entries = (await cluster.runs()).toSorted((a, b) => (a.startedAt < b.startedAt ? 1 : -1));
  const live = apisOf(entries).map(async (api) => [apiText(api), await liveApi(cluster, api)] as const);
  return { entries, apis: new Map(await Promise.all(live)) };
}

/** How long a lost worker is known. */
const lostKnownMs = 60 * 60 * 1_000;

/** Workers that fell silent in the last hour without leaving: they were killed, or can't reach the datastore. */
export async function readLostWorkers(
  cluster: Cluster,
  { entries }: ClusterSnapshot,
): Promise<readonly WorkerEntry[]> {
  const known = await Promise.all(apisOf(entries).map((api) => cluster.workers(api, lostKnownMs)));
  return known.flat().filter((worker) => !isPresent(worker));
}

function apisOf(entries: readonly RunEntry[]): readonly LimitedApi[] {
  return [...new Map(entries.map((entry) => [apiText(entry), entry])).values()];
}

/** What the shared datastore knows of a run. Undefined without a shared datastore. */
export function runInCluster(cluster: ClusterSnapshot | undefined, id: string): RunInCluster | undefined {
  if (cluster === undefined) return undefined;
  const entry = cluster.entries.find((each) => each.id === id);
  if (entry === undefined) return { entry, workers: [], pace: undefined };
  const api = apiText(entry);
  const others = cluster.entries.filter((each) => isPresent(each) && apiText(each) === api);
  return { entry, workers: [], pace: undefined, ...cluster.apis.get(api), ahead: runAhead(entry, others) };
}
