import { isDeepStrictEqual } from 'node:util';
import { steadyNow } from '../../base/async/clock.ts';
import { repeat } from '../../base/async/repeat.ts';
import { untilAborted } from '../../base/async/waiting.ts';
import type { ErrorCode } from '../../base/errors/error-codes.ts';
import { ErrorThrottle } from '../../base/errors/error-throttle.ts';
import { CqbatchError, usageError } from '../../base/errors/errors.ts';
import type { Log } from '../../base/log.ts';
import type { RunStore } from '../../engine/run/record/store.ts';
import { decide, withConclusion } from './decide.ts';
import {
  goingScheduledRun,
  type HistoryEntry,
  type Occasion,
  type Schedule,
  type ScheduleState,
  type Trigger,
} from './schedule.ts';
import type { ScheduleStore } from './store.ts';
import { timesOf } from './times.ts';

type EntryOf<Result extends HistoryEntry['result']> = Extract<HistoryEntry, { readonly result: Result }>;

export type Beginning =
  /** This attempt or an earlier one submitted the runs. */
  | Pick<EntryOf<'began'>, 'result' | 'runs' | 'refused'>
  | (Pick<EntryOf<'failed'>, 'result' | 'message'> & { readonly code: ErrorCode })
  /** Another process starts the runs, or this process is stopping. */
  | { readonly result: 'later' };

export interface KeeperOptions {
  readonly schedules: ScheduleStore;
  readonly runs: RunStore;
  /** Idempotent. */
  readonly begin: (schedule: Schedule, occasion: Occasion) => Promise<Beginning>;
  readonly onFailed: (schedule: Schedule, failure: CqbatchError) => void;
  readonly log: Log;
  readonly now: () => Date;
}

interface Decision {
  readonly schedule: Schedule;
  readonly stateBefore: ScheduleState;
  readonly stateAfter: ScheduleState;
  readonly trigger: Trigger | undefined;
}

/** Does nothing while another process looks at the schedule. */
export async function lookAtSchedule(name: string, options: KeeperOptions): Promise<void> {
  const { schedules } = options;
  // Taking the lock costs a disk sync.
  if ((await decisionOn(name, options)) === undefined) return;
  try {
    const lock = await schedules.lock(name);
    try {
      const decision = await decisionOn(name, options);
      if (decision !== undefined) await carryOut(decision, options);
    } finally {
      await lock.release();
    }
  } catch (error) {
    if (error instanceof CqbatchError && error.code === 'SCHEDULE_LOCKED') return;
    if ((await schedules.look(name).catch(() => true)) === undefined) return;
    throw error;
  }
}

/** Undefined when there is nothing to do. */
async function decisionOn(
  name: string,
  { schedules, runs, now }: KeeperOptions,
): Promise<Decision | undefined> {
  const schedule = await schedules.look(name);
  if (schedule === undefined) return undefined;
  const stateBefore = await schedules.state(name);
  const trigger = await schedules.trigger(name);
  const going = await goingScheduledRun(runs, stateBefore);
  const times = await timesOf(schedule);
  const stateAfter = decide(schedule, stateBefore, { now: now(), times, trigger, runInProgress: going });
  const isIdle = stateAfter.beginning === undefined && isDeepStrictEqual(stateAfter, stateBefore);
  return isIdle ? undefined : { schedule, stateBefore, stateAfter, trigger };
}

async function carryOut(decision: Decision, options: KeeperOptions): Promise<void> {
  const { schedules } = options;
  const { schedule, stateBefore, stateAfter, trigger } = decision;
  const { name } = schedule;
  // Saved before a run starts: if this process dies, its successor starts the same run and no other.
  if (!isDeepStrictEqual(stateAfter, stateBefore)) await schedules.saveState(name, stateAfter);
  if (stateBefore.beginning === undefined && trigger !== undefined)
    await schedules.clearTrigger(name, trigger);
  reportWithoutRun(decision, options);
  if (stateAfter.beginning !== undefined)
    await beginOccasion(schedule, stateAfter, stateAfter.beginning, options);
}

async function beginOccasion(
  schedule: Schedule,
  state: ScheduleState,
  occasion: Occasion,
  { schedules, onFailed, log, now, ...options }: KeeperOptions,
): Promise<void> {
  const beginning = await options.begin(schedule, occasion);
  if (beginning.result === 'later') return;
  const { name } = schedule;
  const { due } = occasion;
  const at = now().toISOString();
  if (beginning.result === 'failed') {
    const { code, message } = beginning;
    log.error({ schedule: name, due, err: message }, 'schedule: no run could be started');
    await schedules.saveState(name, withConclusion(state, { ...occasion, ...beginning, at }));
    onFailed(schedule, usageError(code, message));
    return;
  }
  const { result, runs, refused = [] } = beginning;
  if (runs.length > 0) log.info({ schedule: name, due, runs }, 'schedule: runs submitted');
  if (refused.length > 0) log.warn({ schedule: name, due, refused }, 'schedule: manifests refused');
  const isIdle = runs.length + refused.length === 0;
  const entry: HistoryEntry = isIdle
    ? { ...occasion, result: 'idle' }
    : { ...occasion, result, at, runs, ...(refused.length > 0 && { refused }) };
  await schedules.saveState(name, withConclusion(state, entry));
}

/** Reports occasions without a run. A missed time that no run makes up for is also a failure. */
function reportWithoutRun(
  { schedule, stateBefore, stateAfter }: Decision,
  { log, onFailed }: KeeperOptions,
): void {
  for (const entry of stateAfter.history.filter((one) => !stateBefore.history.includes(one))) {
    const { result, due } = entry;
    const because = entry.result === 'skipped' ? { because: entry.because } : {};
    log.warn({ schedule: schedule.name, due, ...because }, `schedule: ${result}`);
    if (result === 'missed' && stateAfter.beginning === undefined && stateAfter.waiting === undefined) {
      const message = `it was due ${entry.until ?? due}, and no daemon was running in time`;
      onFailed(schedule, usageError('SCHEDULE_MISSED', message));
    }
  }
}

export interface CarryOutOptions extends Omit<KeeperOptions, 'now'> {
  /** Called every second, for runs that have ended. */
  readonly finishRuns: (schedule: Schedule) => Promise<void>;
  readonly stop: AbortSignal;
}

const decideEveryMs = 1_000;
/** For the record that the daemon is alive. */
const showDaemonEveryMs = 30_000;

/** @param now for tests */
export async function carryOutSchedules(options: CarryOutOptions, now = () => new Date()): Promise<void> {
  const { schedules, log, finishRuns, stop } = options;
  const errors = new ErrorThrottle();
  const onError = (error: Error): void => {
    if (errors.isNews(error)) log.error({ err: error.message }, 'schedules');
  };
  let all: readonly Schedule[] = [];
  let shownAt = Number.NEGATIVE_INFINITY;
  const looks = repeat(
    async () => {
      await schedules.begin();
      all = await schedules.list(onError);
      if (steadyNow() - shownAt >= showDaemonEveryMs) {
        await schedules.showDaemon();
        shownAt = steadyNow();
      }
      for (const { name } of all)
        if (!stop.aborted) await lookAtSchedule(name, { ...options, now }).catch(onError);
    },
    { everyMs: decideEveryMs, onError },
  );
  const finishes = repeat(
    async () => {
      for (const schedule of all) await finishRuns(schedule).catch(onError);
    },
    { everyMs: decideEveryMs, onError },
  );
  looks.now();
  await untilAborted(stop);
  await Promise.all([looks.stop(), finishes.stop()]);
}
