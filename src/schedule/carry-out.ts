import { isDeepStrictEqual } from 'node:util';
import type { Logger } from 'pino';
import { steadyNow } from '../clock.ts';
import { ErrorNews } from '../error-news.ts';
import { CqbatchError, usageError } from '../errors.ts';
import { repeat } from '../repeat.ts';
import type { RunStore } from '../run/record/store.ts';
import { aborted } from '../waiting.ts';
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
  /** Aborts when the daemon is to stop. */
  readonly stop: AbortSignal;
}

const lookMs = 1_000;
/** How often the daemon shows that it is there. */
const showMs = 30_000;

/**
 * Carries out the schedules of a state folder until it is told to stop: each second it looks which of them have something to do.
 *
 * @param clock for tests
 */
export async function carryOutSchedules(
  options: ScheduleDaemonOptions,
  clock = () => new Date(),
): Promise<void> {
  const { schedules, runs, log, stop } = options;
  const keeper = new ScheduleKeeper(options, clock);
  const errors = new ErrorNews();
  const onError = (error: Error): void => {
    if (errors.isNews(error)) log.error({ err: error.message }, 'schedules');
  };
  let all: readonly Schedule[] = [];
  /** When the schedules are due next, by key; those that are to be looked at now are not in it. */
  let due = new Map<string, number>();
  let lookedAt = 0;
  let shownAt = Number.NEGATIVE_INFINITY;

  /** Whether there is something to do before it is due: what users want, or what waits for the end of a run. */
  const isWanted = async ({ name }: Schedule): Promise<boolean> => {
    if ((await schedules.trigger(name)) !== undefined) return true;
    const state = await schedules.state(name);
    if (state.beginning !== undefined) return true;
    return state.waiting !== undefined && (await goingScheduledRun(runs, state)) === undefined;
  };
  /** @returns when it is due next; undefined when it is to be looked at again */
  const look = async (schedule: Schedule, now: number): Promise<number | undefined> => {
    const dueAt = due.get(schedule.key);
    if (dueAt !== undefined && now < dueAt && !(await isWanted(schedule))) return dueAt;
    if (stop.aborted || !(await keeper.look(schedule.name))) return undefined;
    const times = await timesOf(schedule);
    return times.next(new Date(now))?.getTime() ?? Number.POSITIVE_INFINITY;
  };
  const looks = repeat(
    async () => {
      const now = clock().getTime();
      // What a clock that was ahead has taken for due next may be years from now.
      if (now < lookedAt) due = new Map();
      lookedAt = now;
      all = await schedules.list(onError);
      if (all.length > 0 && steadyNow() - shownAt >= showMs) {
        await schedules.showDaemon();
        shownAt = steadyNow();
      }
      const next = new Map<string, number>();
      for (const schedule of all) {
        // One that is damaged keeps no others from being looked at.
        const dueAt = await look(schedule, now).catch((error: Error) => void onError(error));
        if (dueAt !== undefined) next.set(schedule.key, dueAt);
      }
      due = next;
    },
    { everyMs: lookMs, onError },
  );
  const finishes = repeat(
    async () => {
      for (const schedule of all) await options.finish(schedule).catch(onError);
    },
    { everyMs: lookMs, onError },
  );
  looks.now();
  await aborted(stop);
  await Promise.all([looks.stop(), finishes.stop()]);
}
