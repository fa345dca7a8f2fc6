import { join } from 'node:path';
import { steadyNow, timeOfDay } from '../../base/async/clock.ts';
import { withTimeout } from '../../base/async/waiting.ts';
import { look } from '../../base/disk/files.ts';
import type { Schedule } from '../../daemon/schedule/schedule.ts';
import { openScheduleStore, type ScheduleStore } from '../../daemon/schedule/store.ts';
import { nextTimes, timesOf } from '../../daemon/schedule/times.ts';
import { actorText } from '../../domain/actor.ts';
import { runIds } from '../../domain/names.ts';
import { noticeableRestMs } from '../../domain/pace.ts';
import type { Cluster } from '../../engine/cluster/cluster.ts';
import { isActive, type WorkerEntry } from '../../engine/cluster/entries.ts';
import { reportedRetries } from '../../engine/run/plan/retries.ts';
import { type AllRuns, allRuns, type ClusterLook, lookAtCluster } from '../../engine/run/record/all-runs.ts';
import { endInWords } from '../../engine/run/record/record.ts';
import type { RunView } from '../../engine/run/record/run-view.ts';
import type { RunStore } from '../../engine/run/record/store.ts';
import type { RunData, RunDetails, ScheduleData, Snapshot, WorkerData } from './page-data.ts';

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
/** Ended runs in a snapshot. */
const recentEnded = 50;
/** Ended runs on the dashboard; `cqbatch list` shows all. */
const mostEnded = 500;
const shownTimes = 3;

interface Look extends Omit<Snapshot, 'run' | 'mayControl' | 'requireReason'> {
  /** Ended runs that rarely change: not part of a snapshot. */
  readonly older: readonly RunData[];
}

export const reportFile = 'report.html';

/** Reads the runs, workers and schedules of a state folder and of a shared datastore. */
export class Overview {
  readonly #store: RunStore;
  readonly #shared: SharedPlace | undefined;
  readonly #schedules: ScheduleStore;
  readonly #runs: AllRuns;
  readonly #warnings = new Set<string>();
  #looking: Promise<ClusterLook> | undefined;
  #awaySince: Date | undefined;
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
    const since = this.#awaySince?.toISOString();
    const shared = this.#shared;
    const trouble = shared && since && (shared.trouble() ?? `${shared.name} does not answer`);
    const views = await this.#runs.look(
      clusterLook,
      (id, state, newer) => isActive(state) || state === 'submitted' || newer < mostEnded || wanted.has(id),
    );
    const here = views.filter(({ local }) => local !== undefined).map((view) => runData(view, trouble));
    const old = new Set(here.filter(({ ended, id }) => ended && !wanted.has(id)).slice(recentEnded));
    if (clusterLook !== undefined || shared === undefined) {
      this.#elsewhere = views.filter(({ local }) => local === undefined).map((view) => runData(view));
      this.#workers = [...(clusterLook?.apis.values() ?? [])].flatMap(({ workers }) =>
        workers.map(workerData),
      );
    }
    return {
      stateDir: this.#store.stateDir,
      datastore: shared && { name: shared.name, trouble, since },
      runs: [
        ...here.filter((run) => !old.has(run)),
        ...this.#elsewhere.map((run) => ({ ...run, lastSeenAt: since })),
      ],
      older: [...old],
      workers: this.#workers.map((worker) => ({ ...worker, lastSeenAt: since })),
      schedules: await this.#lookAtSchedules(),
      hasDaemon: (await this.#schedules.daemon()) !== undefined,
      warnings: [...this.#warnings],
    };
  }

  async details(id: string): Promise<RunDetails | null> {
    const record = runIds.has(id) ? await this.#store.load(id).catch(() => null) : null;
    if (record === null) return null;
    const folder = this.#store.folder(id);
    return {
      states: record.states.map(({ at, by, reason = '', ...end }) => {
        return { at, state: endInWords(end), by: by === undefined ? '' : actorText(by), reason };
      }),
      hasReport: (await look(join(folder, reportFile)))?.isFile() === true,
      reportedRetries: await reportedRetries(folder),
    };
  }

  close(): Promise<void> {
    return this.#runs.close();
  }

  /** Undefined while the shared datastore does not answer. */
  async #lookAtShared(): Promise<ClusterLook | undefined> {
    if (this.#shared === undefined) return undefined;
    const { cluster } = this.#shared;
    this.#looking ??= lookAtCluster(cluster).finally(() => {
      this.#looking = undefined;
    });
    const clusterLook = await withTimeout(
      this.#looking.catch(() => undefined),
      patienceMs,
    );
    this.#awaySince = clusterLook === undefined ? (this.#awaySince ?? new Date()) : undefined;
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

function workerData(worker: WorkerEntry): WorkerData {
  const { host, pid, version, baseUrl, rateGroup, active, concurrency, finished } = worker;
  return { host, pid, version, baseUrl, rateGroup, active, concurrency, finished };
}

/** @param trouble why the shared datastore of the run does not answer */
export function runData(view: RunView, trouble?: string): RunData {
  const { throughput, pace, coordinator, local, wait, because, workers, ...known } = view;
  const { state, ended, rows, done } = known;
  const restUntil = pace?.restUntil ?? 0;
  const isResting = isActive(state) && restUntil - steadyNow() >= noticeableRestMs;
  const isShared = local === undefined || local.isShared;
  const isAway = isShared && state === 'running' && trouble !== undefined;
  const waiting = isAway ? trouble : wait?.text;
  const perSecond = throughput?.rowsPerSecond ?? 0;
  const by = local?.states[0]?.by;
  const isCalled = state === 'running' && waiting === undefined && perSecond > 0;
  return {
    ...known,
    state: endInWords({ state, because }),
    throughput: throughput && { ...throughput, rowsPerSecond: Math.round(perSecond * 10) / 10 },
    pace: pace && { rate: pace.rate, limit: pace.limit, reason: pace.reason },
    waiting,
    held: local?.held || undefined,
    waitUntil: isResting ? wholeSecond(timeOfDay(restUntil)) : undefined,
    etaSeconds: isCalled ? Math.ceil((rows - done) / perSecond) : undefined,
    coordinator: coordinator && { host: coordinator.host, pid: coordinator.pid },
    isElsewhere: local === undefined,
    isShared,
    unclear: local?.unclear,
    activeSeconds: ended && local !== undefined ? Math.round(local.activeMs / 1_000) : undefined,
    reason: reasonOf(view),
    failureCode: failureCodeOf(view),
    by: by && actorText(by),
    retryOf: local?.retryOf,
  };
}

/** Why a run is in its state. While it is running, the reason would be that of its last start. */
function reasonOf({ id, state, local }: RunView): string | undefined {
  const last = local?.states.at(-1);
  if (last === undefined || state === 'running') return undefined;
  return last.state === state ? last.reason : `its process died; to continue, type: cqbatch resume ${id}`;
}

function failureCodeOf({ local }: RunView): string | undefined {
  const failures = local?.codes?.filter(({ outcome }) => outcome === 'failed') ?? [];
  return failures.toSorted((one, other) => other.count - one.count)[0]?.code;
}

/** To the second, so that the time stays the same at each look. */
function wholeSecond(time: Date): string {
  return new Date(Math.round(time.getTime() / 1_000) * 1_000).toISOString();
}
