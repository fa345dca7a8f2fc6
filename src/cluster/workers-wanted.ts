import { steadyNow } from '../clock.ts';
import type { Datastore } from '../datastore/datastore.ts';
import { keyOfApi } from '../datastore/rate-group.ts';
import type { LimitedApi } from '../domain.ts';
import { noticeableRestMs } from '../pace.ts';
import { orAfter } from '../waiting.ts';
import { openCluster } from './cluster.ts';
import {
  isActive,
  isPresent,
  type PublishedPace,
  type RunEntry,
  type TrafficReport,
  type WorkerEntry,
} from './entries.ts';

/** Half of what one worker made in docs/capacity.md, with Redis and the API on the same cores. */
const mostPerSecond = 5_000;
/** While rates are tried, a little more must be possible than is used; the governor tries calls in flight in the same way. */
const enough = 0.8;
/** Too few workers by less than this share cost less than one more. */
const addedFrom = 1.03;
/** One worker less must leave this much room: noise neither adds nor takes away. */
const takenFrom = 1.15;
/** A worker that comes for less work than this finds none, and one that waits for less will get none. */
const addedForSeconds = 5;
const keptForSeconds = 1;
/** Prometheus waits longer for a page. */
const readMs = 2_000;

/**
 * How many workers would help now with the runs of one API:
 *
 * - none if no run in progress has rows left. A paused run is not in progress, nor is a run whose coordinator is gone;
 * - as many as there are, and at least one, while there is nothing to judge by: the API rests, the rate was just lowered, only
 *   single calls go out, no row finishes (an outage), or no call has ended yet;
 * - otherwise enough for the allowed rate, in calls in flight: rate x duration of a call, as far as calls in flight are allowed. A worker
 *   has as many as its `--concurrency`, and with `auto` all of them. A worker makes at most 5,000 calls per second;
 * - but no worker comes for less than five seconds of work, an idle one goes when less than a second of work is left for it, and no busy
 *   one goes that the rate needs.
 *
 * The present number stays while it is at most 3 % too small, or one worker less would have less than 15 % to spare. While the governor
 * tries other rates, workers come for a quarter more calls in flight than there are, and none goes: those rates come and go.
 */
export function workersWanted(
  runs: readonly RunEntry[],
  workers: readonly WorkerEntry[],
  pace: PublishedPace | undefined,
): number {
  const inProgress = runs.filter((run) => run.state === 'running' && isPresent(run));
  // Programs that don't write `done` may have any number of rows left.
  const rows = sum(inProgress, (run) => run.rows - (run.done ?? Number.NEGATIVE_INFINITY));
  if (rows <= 0) return 0;
  const present = workers.filter((worker) => isPresent(worker));
  const kept = Math.max(1, present.length);
  const durations = present.flatMap(({ traffic }) => durationsOf(traffic));
  const rowsPerSecond = sum(inProgress, (run) => run.rowsPerSecond);
  if (pace === undefined || isHeldUp(pace) || rowsPerSecond === 0 || durations.length === 0) return kept;

  const { concurrency: mostCalls, rate = Number.POSITIVE_INFINITY, limit = rate } = pace;
  const allowed = Math.min(rate, limit);
  const seconds = Math.max(1, sum(durations, (each) => each) / durations.length) / 1_000;
  const callsOf = ({ isAuto, concurrency }: WorkerEntry) =>
    isAuto ? mostCalls : Math.min(concurrency, mostCalls);
  const callsOfOne = sum(present, callsOf) / present.length;
  const settled = isSettled(pace);
  const ifTried = (used: number) => (settled ? Number.POSITIVE_INFINITY : used / enough);
  const inFlight = sum(present, ({ traffic, active }) => traffic?.active ?? active);
  const calls = Math.min(mostCalls, allowed * seconds, ifTried(inFlight));
  const need = Math.max(calls / callsOfOne, Math.min(allowed, ifTried(rowsPerSecond)) / mostPerSecond);
  const fewest = Math.max(1, Math.ceil(need / addedFrom));
  const isEnough = kept >= fewest && (!settled || kept <= Math.ceil(need * takenFrom));
  const needed = isEnough ? kept : fewest;

  const perSecond = Math.min(callsOfOne / seconds, mostPerSecond);
  const worthwhile = (forSeconds: number) => Math.max(1, Math.ceil(rows / (perSecond * forSeconds)));
  const useful = Math.max(worthwhile(addedForSeconds), Math.min(kept, worthwhile(keptForSeconds)));
  const busy = present.filter(({ active }) => active > 0).length;
  return Math.max(Math.min(needed, useful), Math.min(busy, needed));
}

/** The mean duration of a worker's calls, if it has made any. Entries of older versions have only that since their start. */
function durationsOf(traffic: TrafficReport | undefined): readonly number[] {
  if (traffic === undefined || traffic.accepted === 0) return [];
  return [traffic.recentMs ?? traffic.durationMs / traffic.accepted];
}

/** Whether the pace says nothing about the next seconds. */
function isHeldUp({ phase, restUntil = 0 }: PublishedPace): boolean {
  return phase === 'waiting' || phase === 'cooldown' || restUntil - steadyNow() >= noticeableRestMs;
}

/** Whether the rate is the one that the API, the user or the governor has decided on. */
function isSettled({ phase, rate }: PublishedPace): boolean {
  return rate !== undefined && (phase === 'fixed' || phase === 'stated' || phase === 'holding');
}

function sum<Item>(items: readonly Item[], value: (item: Item) => number): number {
  return items.reduce((total, item) => total + value(item), 0);
}

export interface WantedWorkers {
  readonly api: LimitedApi;
  readonly workers: number;
}

/** The workers wanted for each API with a run in progress; undefined while the datastore does not answer soon. */
export async function readWorkersWanted(datastore: Datastore): Promise<readonly WantedWorkers[] | undefined> {
  if (datastore.trouble !== undefined) return undefined;
  return orAfter(readFrom(openCluster(datastore)), readMs).catch(() => undefined);
}

async function readFrom({ runs, workers, pace }: ReturnType<typeof openCluster>) {
  const active = (await runs()).filter(({ state }) => isActive(state));
  const byApi = new Map<string, RunEntry[]>();
  for (const run of active) byApi.set(keyOfApi(run), [...(byApi.get(keyOfApi(run)) ?? []), run]);
  return Promise.all(
    [...byApi.values()].map(async (ofApi): Promise<WantedWorkers> => {
      const [{ baseUrl, rateGroup }] = ofApi as [RunEntry];
      const api = { baseUrl, rateGroup };
      return { api, workers: workersWanted(ofApi, await workers(api), await pace(api)) };
    }),
  );
}
