import { isDeepStrictEqual } from 'node:util';
import type { Logger } from 'pino';
import type { Datastore } from '../datastore/datastore.ts';
import { ErrorNews } from '../error-news.ts';
import { CqbatchError, usageError } from '../errors.ts';
import { type Alarm, type AlarmQueue, openAlarmQueue } from '../queue/alarm-queue.ts';
import { withReleases } from '../releases.ts';
import { repeat } from '../repeat.ts';
import type { RunStore } from '../run/record/store.ts';
import { aborted, orAfter } from '../waiting.ts';
import { concluded, decide } from './decide.ts';
import {
  goingScheduledRun,
  type HistoryEntry,
  type Occasion,
  type Schedule,
  type ScheduleState,
} from './schedule.ts';
import type { ScheduleStore } from './store.ts';
import { timesOf } from './times.ts';

/** What came of an attempt to begin the runs of an occasion. */
export type Beginning =
  /** They are submitted, by this attempt or an earlier one. */
  | {
      readonly came: 'began';
      readonly runs: readonly string[];
      /** Manifests of an inbox that can't be run as they are. */
      readonly refused?: readonly string[];
    }
  | { readonly came: 'failed'; readonly code: string; readonly message: string }
  /** Not now: another process is at it, or this one is being stopped. */
  | { readonly came: 'later' };

export interface CarryOutOptions {
  readonly schedules: ScheduleStore;
  readonly runs: RunStore;
  /** Submits what an occasion begins; the same however often it is called for it. */
  readonly begin: (schedule: Schedule, occasion: Occasion) => Promise<Beginning>;
  /** Does what is left to do when runs have ended; called every second. */
  readonly finish: (schedule: Schedule) => Promise<void>;
  /** Called when no run could be begun. */
  readonly onFailed: (schedule: Schedule, failure: CqbatchError) => void;
  readonly log: Logger;
}

type KeeperOptions = Omit<CarryOutOptions, 'finish'>;

/** Decides what a schedule does now, and does it. One process at a time does so for a schedule. */
export class ScheduleKeeper {
  readonly #options: KeeperOptions;
  readonly #now: () => Date;
  readonly #atWork = new Set<string>();

  /** @param now for tests */
  constructor(options: KeeperOptions, now = () => new Date()) {
    this.#options = options;
    this.#now = now;
  }

  /** @returns whether it was looked at; not while somebody else does that. */
  async look(name: string): Promise<boolean> {
    if (this.#atWork.has(name)) return false;
    this.#atWork.add(name);
    try {
      const lock = await this.#options.schedules.lock(name);
      try {
        await this.#look(name);
      } finally {
        await lock.release();
      }
      return true;
    } catch (error) {
      if (error instanceof CqbatchError && error.code === 'SCHEDULE_LOCKED') return false;
      // Removed meanwhile: there is nothing to be locked any more.
      if ((await this.#options.schedules.look(name).catch(() => true)) === undefined) return false;
      throw error;
    } finally {
      this.#atWork.delete(name);
    }
  }

  async #look(name: string): Promise<void> {
    const { schedules } = this.#options;
    const schedule = await schedules.look(name);
    if (schedule === undefined) return;
    const before = await schedules.state(name);
    const trigger = await schedules.trigger(name);
    const going = await goingScheduledRun(this.#options.runs, before);
    const times = await timesOf(schedule);
    const decided = decide(schedule, before, { now: this.#now(), times, trigger, going });
    // Before anything is begun: whoever comes after this process has died begins the same run, and no other.
    if (!isDeepStrictEqual(decided, before)) await schedules.saveState(name, decided);
    if (before.beginning === undefined && trigger !== undefined) await schedules.clearTrigger(name, trigger);
    this.#report(schedule, before, decided);
    if (decided.beginning !== undefined) await this.#begin(schedule, decided, decided.beginning);
  }

  async #begin(schedule: Schedule, state: ScheduleState, occasion: Occasion): Promise<void> {
    const { schedules, begin, onFailed, log } = this.#options;
    const { name } = schedule;
    const beginning = await begin(schedule, occasion);
    if (beginning.came === 'later') return;
    const at = this.#now().toISOString();
    if (beginning.came === 'began') {
      const { runs, refused = [] } = beginning;
      const isIdle = runs.length + refused.length === 0;
      const entry: HistoryEntry = isIdle
        ? { ...occasion, came: 'idle' }
        : {
            ...occasion,
            came: 'began',
            at,
            runs: [...runs],
            ...(refused.length > 0 && { refused: [...refused] }),
          };
      const { due } = occasion;
      if (runs.length > 0) log.info({ schedule: name, due, runs }, 'schedule: runs submitted');
      if (refused.length > 0) log.warn({ schedule: name, due, refused }, 'schedule: manifests refused');
      await schedules.saveState(name, concluded(state, entry));
      return;
    }
    const { code, message } = beginning;
    log.error({ schedule: name, due: occasion.due, err: message }, 'schedule: no run could be begun');
    await schedules.saveState(name, concluded(state, { ...occasion, came: 'failed', at, code, message }));
    onFailed(schedule, usageError(code, message));
  }

  /** Tells what was decided not to be done. That nothing made up for a missed time is worth more than a line of the log. */
  #report(schedule: Schedule, before: ScheduleState, after: ScheduleState): void {
    const { log, onFailed } = this.#options;
    for (const entry of after.history.filter((one) => !before.history.includes(one))) {
      const { came, due } = entry;
      const because = entry.came === 'skipped' ? { because: entry.because } : {};
      log.warn({ schedule: schedule.name, due, ...because }, `schedule: ${came}`);
      if (came === 'missed' && after.beginning === undefined && after.waiting === undefined) {
        const message = `it was due ${entry.until ?? due}, and no daemon was there in time`;
        onFailed(schedule, usageError('SCHEDULE_MISSED', message));
      }
    }
  }
}

export interface ScheduleDaemonOptions extends CarryOutOptions {
  readonly datastore: Datastore;
  /** Aborts when the daemon is to stop. */
  readonly stop: AbortSignal;
}

/** How often what users want is looked for, and what has ended is. */
const lookMs = 1_000;
/** How often all schedules are looked at, whatever their alarms do. */
const lookAtAllMs = 30_000;
const farewellMs = 3_000;

/**
 * Carries out the schedules of a state folder until it is told to stop. Alarms in the datastore tell when one is due; what
 * users want, and what waits for the end of a run, is looked for every second.
 */
export async function carryOutSchedules(options: ScheduleDaemonOptions): Promise<void> {
  const { schedules, datastore, log, stop } = options;
  const keeper = new ScheduleKeeper(options);
  const errors = new ErrorNews();
  const onError = (error: Error): void => {
    if (errors.isNews(error)) log.error({ err: error.message }, 'schedules');
  };
  const look = async (name: string): Promise<boolean> => {
    if (stop.aborted) return false;
    return keeper.look(name).catch((error: Error) => {
      onError(error);
      return false;
    });
  };
  await withReleases(async (atEnd) => {
    let alarms: AlarmQueue | undefined;
    /** Those whose alarm rang while somebody was at them. */
    const again = new Set<string>();
    const openAlarms = async (): Promise<AlarmQueue> => {
      const opened = openAlarmQueue({
        datastore,
        queue: await schedules.queueName(),
        next: async (cron, tz, afterMs) => (await timesOf({ cron, tz })).next(new Date(afterMs))?.getTime(),
        onRing: async (name) => {
          if (!(await look(name))) again.add(name);
        },
        onError,
      });
      atEnd(() => orAfter(opened.close(), farewellMs));
      return opened;
    };
    let all: readonly Schedule[] = [];
    /** Those that were looked at since users changed them, by key. */
    let seen = new Set<string>();
    const keepAlarms = repeat(
      async () => {
        if (all.length > 0) alarms ??= await openAlarms();
        await alarms?.keep(all.filter(({ paused }) => !paused).map(alarmOf));
      },
      { everyMs: lookAtAllMs, onError },
    );
    const isWanted = async ({ name, key }: Schedule): Promise<boolean> => {
      if (again.delete(name) || !seen.has(key)) return true;
      if ((await schedules.trigger(name)) !== undefined) return true;
      const state = await schedules.state(name);
      if (state.beginning !== undefined) return true;
      return state.waiting !== undefined && (await goingScheduledRun(options.runs, state)) === undefined;
    };
    const looks = repeat(
      async () => {
        all = await schedules.list(onError);
        if (all.length !== seen.size || all.some(({ key }) => !seen.has(key))) {
          keepAlarms.now();
          await schedules.showDaemon();
        }
        const unseen = new Set<string>();
        for (const schedule of all) {
          // One that is damaged keeps no others from being looked at.
          const wanted = await isWanted(schedule).catch((error: Error) => void onError(error));
          if (wanted && !(await look(schedule.name))) unseen.add(schedule.key);
        }
        seen = new Set(all.map(({ key }) => key).filter((key) => !unseen.has(key)));
      },
      { everyMs: lookMs, onError },
    );
    const finishes = repeat(
      async () => {
        for (const schedule of all) await options.finish(schedule).catch(onError);
      },
      { everyMs: lookMs, onError },
    );
    const looksAtAll = repeat(
      async () => {
        if (all.length > 0) await schedules.showDaemon();
        for (const { name } of all) await look(name);
      },
      { everyMs: lookAtAllMs, onError },
    );
    looks.now();
    await aborted(stop);
    await Promise.all([looks, finishes, looksAtAll].map((each) => each.stop()));
    await orAfter(keepAlarms.stop(), farewellMs);
  });
}

function alarmOf({ name, key, cron, tz }: Schedule): Alarm {
  return { id: `${name}-${key}`, pattern: cron, tz, name };
}
