import { join } from 'node:path';
import { steadyNow, timeOfDay } from '../../base/async/clock.ts';
import { withTimeout } from '../../base/async/waiting.ts';
import { exists } from '../../base/disk/files.ts';
import type { Schedule } from '../../daemon/schedule/schedule.ts';
import { openScheduleStore, type ScheduleStore } from '../../daemon/schedule/store.ts';
import { nextTimes, timesOf } from '../../daemon/schedule/times.ts';
import { runIds } from '../../domain/names.ts';
import { noticeableRestMs } from '../../domain/pace.ts';
import type { Cluster } from '../../engine/cluster/cluster.ts';
import type { WorkerEntry } from '../../engine/cluster/entries.ts';
import { reportedRetries } from '../../engine/run/plan/retries.ts';
import { type AllRuns, allRuns, type ClusterLook, lookAtCluster } from '../../engine/run/record/all-runs.ts';
import type { RunView } from '../../engine/run/record/run-view.ts';
import type { RunStore } from '../../engine/run/record/store.ts';
import { isInProgress } from '../../engine/run/session/find-run.ts';
import type { Away, RunData, ScheduleData, Snapshot, WorkerData } from './page-data.ts';

/** A shared datastore. */
export interface SharedPlace {
  /** Its address, without a password. */
  readonly name: string;
  readonly cluster: Cluster;
  /** Undefined while the datastore answers. */
  readonly trouble: () => string | undefined;
}

/** After this long without an answer, Redis counts as away. */
const patienceMs = 2_000;
/** Ended runs on the dashboard; `cqbatch list` shows all. */
const mostEnded = 500;
const shownTimes = 3;

type Look = Omit<Snapshot, 'report' | 'mayControl' | 'requireReason'>;

export const reportFile = 'report.html';

/** Reads the runs, workers and schedules of a state folder and of a shared datastore. */
export class Overview {
  readonly #store: RunStore;
  readonly #shared: SharedPlace | undefined;
  readonly #schedules: ScheduleStore;
  readonly #runs: AllRuns;
  readonly #warnings = new Set<string>();
  #looking: Promise<ClusterLook> | undefined;
  #away: Away | undefined;
  /** As of the latest answer of the shared datastore. */
  #elsewhere: readonly RunData[] = [];
  #workers: readonly WorkerData[] = [];

  constructor(store: RunStore, shared: SharedPlace | undefined) {
    this.#store = store;
    this.#shared = shared;
    this.#schedules = openScheduleStore(store.stateDir);
    this.#runs = allRuns(store, this.#warn);
  }

  readonly #warn = ({ message }: Error): void => void this.#warnings.add(message);

  /** @param wanted runs to include regardless of their age */
  async look(wanted: ReadonlySet<string | undefined>): Promise<Look> {
    this.#warnings.clear();
    const clusterLook = await this.#lookAtShared();
    const views = await this.#runs.look(
      clusterLook,
      (id, state, newer) => isInProgress(state) || newer < mostEnded || wanted.has(id),
    );
    const away = this.#away;
    const data = views.map(runData);
    if (away === undefined) {
      this.#elsewhere = data.filter(({ local }) => local === undefined);
      const apis = [...(clusterLook?.apis.values() ?? [])];
      this.#workers = apis.flatMap(({ workers }) => workers.map(workerData));
    } else this.#elsewhere = this.#elsewhere.map((run) => lastSeen(run, away));
    const all = [...data.filter(({ local }) => local !== undefined), ...this.#elsewhere];
    return {
      stateDir: this.#store.stateDir,
      datastore: this.#shared && { name: this.#shared.name, away },
      runs: all.filter(({ ended }) => !ended),
      ended: all.filter(({ ended }) => ended).toSorted(newestFirst),
      workers: this.#workers,
      schedules: await this.#lookAtSchedules(),
      hasDaemon: (await this.#schedules.daemon()) !== undefined,
      warnings: [...this.#warnings],
    };
  }

  /** See `Snapshot`. */
  async report(id: string | undefined): Promise<Snapshot['report']> {
    if (id === undefined || !runIds.has(id)) return undefined;
    const folder = this.#store.folder(id);
    return (await exists(join(folder, reportFile))) ? reportedRetries(folder) : undefined;
  }

  close(): Promise<void> {
    return this.#runs.close();
  }

  /** Undefined while the shared datastore does not answer. */
  async #lookAtShared(): Promise<ClusterLook | undefined> {
    if (this.#shared === undefined) return undefined;
    const { cluster, name, trouble } = this.#shared;
    this.#looking ??= lookAtCluster(cluster).finally(() => {
      this.#looking = undefined;
    });
    const clusterLook = await withTimeout(
      this.#looking.catch(() => undefined),
      patienceMs,
    );
    const since = this.#away?.since ?? new Date().toISOString();
    this.#away = clusterLook ? undefined : { since, why: trouble() ?? `${name} does not answer` };
    return clusterLook;
  }

  async #lookAtSchedules(): Promise<readonly ScheduleData[]> {
    const found = await this.#schedules.list(this.#warn);
    const data = await Promise.all(found.map((schedule) => this.#scheduleData(schedule).catch(this.#warn)));
    return data.filter((schedule) => schedule !== undefined);
  }

  async #scheduleData(schedule: Schedule): Promise<ScheduleData> {
    const { name, cron, tz, source, paused } = schedule;
    const last = (await this.#schedules.state(name)).history.at(-1);
    const times = paused ? [] : nextTimes(await timesOf(schedule), new Date(), shownTimes);
    return { name, cron, tz, source, paused, last, next: times.map((time) => time.toISOString()) };
  }
}

/** What may have changed since is unknown. */
function lastSeen(run: RunData, { since }: Away): RunData {
  if (run.ended) return run;
  return { ...run, wait: undefined, throughput: undefined, pace: undefined, lastSeenAt: since };
}

function newestFirst({ startedAt: one = '' }: RunData, { startedAt: other = '' }: RunData): number {
  return other.localeCompare(one);
}

function workerData(worker: WorkerEntry): WorkerData {
  const { host, pid, version, baseUrl, rateGroup, active, concurrency, finished } = worker;
  return { host, pid, version, baseUrl, rateGroup, active, concurrency, finished };
}

export function runData({ workers: _, ...view }: RunView): RunData {
  const { ended, throughput, pace, coordinator, wait, local } = view;
  return {
    ...view,
    throughput: throughput && {
      ...throughput,
      rowsPerSecond: Number(throughput.rowsPerSecond.toPrecision(3)),
    },
    pace: pace && { rate: pace.rate, limit: pace.limit, reason: pace.reason },
    waitUntil: wait?.of === 'api' ? restEnd(pace?.restUntil) : undefined,
    coordinator: coordinator && { host: coordinator.host, pid: coordinator.pid },
    local: local && { ...local, activeMs: ended ? local.activeMs : 0 },
  };
}

/** To the second, so that it is the same at each look. Undefined for a short rest. */
function restEnd(restUntil = 0): string | undefined {
  if (restUntil - steadyNow() < noticeableRestMs) return undefined;
  return new Date(Math.round(timeOfDay(restUntil).getTime() / 1_000) * 1_000).toISOString();
}
