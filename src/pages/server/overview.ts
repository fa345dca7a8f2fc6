import { join } from 'node:path';
import { withTimeout } from '../../base/async/waiting.ts';
import { exists } from '../../base/disk/files.ts';
import { openScheduleStore } from '../../daemon/schedule/store.ts';
import { runIds } from '../../domain/names.ts';
import type { Cluster } from '../../engine/cluster/cluster.ts';
import type { WorkerEntry } from '../../engine/cluster/entries.ts';
import { allRuns } from '../../engine/run/facts/all-runs.ts';
import { behindDaemon } from '../../engine/run/facts/behind-daemon.ts';
import { type ClusterSnapshot, readCluster, readLostWorkers } from '../../engine/run/facts/live-run.ts';
import type { RunFacts } from '../../engine/run/facts/run-facts.ts';
import { daemonCommand } from '../../engine/run/facts/run-wait.ts';
import { reportedRetries } from '../../engine/run/plan/retries.ts';
import type { RunStore } from '../../engine/run/record/store.ts';
import { isInProgress } from '../../engine/run/work/find-run.ts';
import type { DatastoreOutage, RunData, Snapshot, WorkerData } from './page-data.ts';
import { lastRunsOf } from './schedule-data.ts';
import { readSchedules, scheduleData } from './schedules.ts';

/** A datastore that several machines share. */
export interface SharedPlace {
  /** The address of the datastore, without a password. */
  readonly name: string;
  readonly cluster: Cluster;
  /** Why the datastore does not answer. Undefined while it answers. */
  readonly trouble: () => string | undefined;
}

/** After this time without an answer, Redis counts as away. */
const patienceMs = 2_000;
/** The most ended runs on the dashboard; `cqbatch list` shows all. */
const mostEnded = 500;

type Overview = Omit<Snapshot, 'report' | 'mayControl' | 'requireReason' | 'drafts'>;

export const reportFile = 'report.html';

/** Reads the runs, workers and schedules of a state folder and of a shared datastore. */
export function openOverview(store: RunStore, shared: SharedPlace | undefined) {
  const schedules = openScheduleStore(store.stateDir);
  const warnings = new Set<string>();
  const warn = ({ message }: Error): void => void warnings.add(message);
  const runs = allRuns(store, warn);
  let reading: Promise<SharedNews> | undefined;
  let away: DatastoreOutage | undefined;
  /** The runs of other machines at the latest answer of the shared datastore. */
  let runsElsewhere: readonly RunData[] = [];
  let workers: readonly WorkerData[] = [];
  const timesOfLoss = new Map<string, string>();

  /** A lost worker. Its last beat is reckoned from its age, which differs by milliseconds: the first reading counts. */
  function lostWorkerData(worker: WorkerEntry): WorkerData {
    const lostAt = timesOfLoss.get(worker.id) ?? worker.seenAt;
    timesOfLoss.set(worker.id, lostAt);
    return { ...workerData(worker), lostAt };
  }

  /** What the shared datastore says. Undefined while it does not answer. */
  async function readShared({ cluster, name, trouble }: SharedPlace): Promise<SharedNews | undefined> {
    reading ??= readNews(cluster).finally(() => {
      reading = undefined;
    });
    const snapshot = await withTimeout(
      reading.catch(() => undefined),
      patienceMs,
    );
    const since = away?.since ?? new Date().toISOString();
    away = snapshot ? undefined : { since, why: trouble() ?? `${name} does not answer` };
    return snapshot;
  }

  return {
    /** Reads the overview. @param wanted runs to include regardless of their age */
    async read(wanted: ReadonlySet<string | undefined>): Promise<Overview> {
      warnings.clear();
      const inCluster = shared && (await readShared(shared));
      const known = await readSchedules(schedules, warn);
      const scheduled = new Set(known.flatMap(({ state }) => lastRunsOf(state.history)));
      const found = await runs.read(
        inCluster,
        (id, state, newer) => isInProgress(state) || newer < mostEnded || wanted.has(id) || scheduled.has(id),
      );
      const data = found.map(runData);
      if (away === undefined) {
        runsElsewhere = data.filter(({ local }) => local === undefined);
        const apis = [...(inCluster?.apis.values() ?? [])];
        const present = apis.flatMap((api) => api.workers);
        for (const { id } of present) timesOfLoss.delete(id);
        workers = [...present.map(workerData), ...(inCluster?.lostWorkers ?? []).map(lostWorkerData)];
      } else runsElsewhere = runsElsewhere.map(withoutNewsSince(away.since));
      const daemon = await schedules.daemon();
      const here = data.filter(({ local }) => local !== undefined);
      const all = [...behindDaemon(here, daemon), ...runsElsewhere];
      const manifests = new Map(all.map(({ id, manifest }) => [id, manifest]));
      const shown = await Promise.all(known.map((each) => scheduleData(each, manifests).catch(warn)));
      return {
        stateDir: store.stateDir,
        datastore: shared && { name: shared.name, away },
        runs: all.filter(({ ended }) => !ended),
        ended: all.filter(({ ended }) => ended).toSorted(newestFirst),
        workers,
        schedules: shown.filter((schedule) => schedule !== undefined),
        hasDaemon: daemon !== undefined,
        daemonCommand: store.completed(daemonCommand),
        warnings: [...warnings],
      };
    },
    /** The retries whose results are in the `report.html` of a run. Undefined without this file. */
    async report(id: string | undefined): Promise<Snapshot['report']> {
      if (id === undefined || !runIds.has(id)) return undefined;
      const folder = store.folder(id);
      return (await exists(join(folder, reportFile))) ? reportedRetries(folder) : undefined;
    },
    close: () => runs.close(),
  };
}

interface SharedNews extends ClusterSnapshot {
  readonly lostWorkers: readonly WorkerEntry[];
}

async function readNews(cluster: Cluster): Promise<SharedNews> {
  const snapshot = await readCluster(cluster);
  return { ...snapshot, lostWorkers: await readLostWorkers(cluster, snapshot) };
}

/** Removes what a run of another machine may have changed since its datastore fell silent. */
function withoutNewsSince(since: string): (run: RunData) => RunData {
  const unknown = { wait: undefined, throughput: undefined, pace: undefined, workerCount: undefined };
  return (run) => (run.ended ? run : { ...run, ...unknown, lastSeenAt: since });
}

function newestFirst({ startedAt: one = '' }: RunData, { startedAt: other = '' }: RunData): number {
  return other.localeCompare(one);
}

function workerData(worker: WorkerEntry): WorkerData {
  const { host, pid, version, baseUrl, rateGroup, active, concurrency, finished } = worker;
  return { host, pid, version, baseUrl, rateGroup, active, concurrency, finished };
}

/** The facts of a run without members that would change at each reading, so that the page gets only news. */
export function runData({ workers: _, ...facts }: RunFacts): RunData {
  const { ended, throughput, coordinator, local } = facts;
  return {
    ...facts,
    throughput: throughput && {
      ...throughput,
      rowsPerSecond: Number(throughput.rowsPerSecond.toPrecision(3)),
    },
    coordinator: coordinator && { host: coordinator.host, pid: coordinator.pid },
    local: local && { ...local, activeMs: ended ? local.activeMs : 0 },
  };
}
