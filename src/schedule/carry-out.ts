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
  type Trigger,
} from './schedule.ts';
import type { ScheduleStore } from './store.ts';
import { timesOf } from './times.ts';

type EntryOf<Came extends HistoryEntry['came']> = Extract<HistoryEntry, { readonly came: Came }>;

/** What came of an attempt to begin the runs of an occasion. */
export type Beginning =
  /** They are submitted, by this attempt or an earlier one. */
  | Pick<EntryOf<'began'>, 'came' | 'runs' | 'refused'>
  | Pick<EntryOf<'failed'>, 'came' | 'code' | 'message'>
  /** Not now: another process is at it, or this one is being stopped. */
  | { readonly came: 'later' };

export interface KeeperOptions {
  readonly schedules: ScheduleStore;
  readonly runs: RunStore;
  /** Submits what an occasion begins; the same however often it is called for it. */
  readonly begin: (schedule: Schedule, occasion: Occasion) => Promise<Beginning>;
  /** Called when no run could be begun. */
  readonly onFailed: (schedule: Schedule, failure: CqbatchError) => void;
  readonly log: Logger;
}

/** What there is to do for a schedule. */
interface Decision {
  readonly schedule: Schedule;
  readonly before: ScheduleState;
  readonly after: ScheduleState;
  readonly trigger: Trigger | undefined;
}

/** Decides what a schedule does now, and does it. One process at a time does so for a schedule. */
export class ScheduleKeeper {
  readonly #options: KeeperOptions;
  readonly #now: () => Date;

  /** @param now for tests */
  constructor(options: KeeperOptions, now = () => new Date()) {
    this.#options = options;
    this.#now = now;
  }

  /** Does nothing while another process looks at it. */
  async look(name: string): Promise<void> {
    const { schedules } = this.#options;
    // Most looks find nothing to do, and a lock costs a sync of the disk.
    if ((await this.#decide(name)) === undefined) return;
    try {
      const lock = await schedules.lock(name);
      try {
        const decision = await this.#decide(name);
        if (decision !== undefined) await this.#carryOut(decision);
      } finally {
        await lock.release();
      }
    } catch (error) {
      if (error instanceof CqbatchError && error.code === 'SCHEDULE_LOCKED') return;
      // Removed meanwhile: there is nothing to be locked any more.
      if ((await schedules.look(name).catch(() => true)) === undefined) return;
      throw error;
    }
  }

  /** Undefined when there is nothing to do. */
  async #decide(name: string): Promise<Decision | undefined> {
    const { schedules, runs } = this.#options;
    const schedule = await schedules.look(name);
    if (schedule === undefined) return undefined;
    const before = await schedules.state(name);
    const trigger = await schedules.trigger(name);
    const going = await goingScheduledRun(runs, before);
    const times = await timesOf(schedule);
    const after = decide(schedule, before, { now: this.#now(), times, trigger, going });
    const isIdle = after.beginning === undefined && isDeepStrictEqual(after, before);
    return isIdle ? undefined : { schedule, before, after, trigger };
  }

  async #carryOut({ schedule, before, after, trigger }: Decision): Promise<void> {
    const { schedules } = this.#options;
    const { name } = schedule;
    // Before anything is begun: if this process dies, the next one begins the same run, and no other.
    if (!isDeepStrictEqual(after, before)) await schedules.saveState(name, after);
    if (before.beginning === undefined && trigger !== undefined) await schedules.clearTrigger(name, trigger);
    this.#report(schedule, before, after);
    if (after.beginning !== undefined) await this.#begin(schedule, after, after.beginning);
  }

  async #begin(schedule: Schedule, state: ScheduleState, occasion: Occasion): Promise<void> {
    const { schedules, begin, onFailed, log } = this.#options;
    const beginning = await begin(schedule, occasion);
    if (beginning.came === 'later') return;
    const { name } = schedule;
    const { due } = occasion;
    const at = this.#now().toISOString();
    if (beginning.came === 'failed') {
      const { code, message } = beginning;
      log.error({ schedule: name, due, err: message }, 'schedule: no run could be begun');
      await schedules.saveState(name, concluded(state, { ...occasion, ...beginning, at }));
      onFailed(schedule, usageError(code, message));
      return;
    }
    const { came, runs, refused = [] } = beginning;
    if (runs.length > 0) log.info({ schedule: name, due, runs }, 'schedule: runs submitted');
    if (refused.length > 0) log.warn({ schedule: name, due, refused }, 'schedule: manifests refused');
    const isIdle = runs.length + refused.length === 0;
    const entry: HistoryEntry = isIdle
      ? { ...occasion, came: 'idle' }
      : { ...occasion, came, at, runs, ...(refused.length > 0 && { refused }) };
    await schedules.saveState(name, concluded(state, entry));
  }

  /** Tells what was decided not to be done. A missed time that no run makes up for is a failure, too. */
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

export interface CarryOutOptions extends KeeperOptions {
  /** Does what is left to do when runs have ended; called every second. */
  readonly finish: (schedule: Schedule) => Promise<void>;
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
export async function carryOutSchedules(options: CarryOutOptions, clock?: () => Date): Promise<void> {
  const { schedules, log, finish, stop } = options;
  const keeper = new ScheduleKeeper(options, clock);
  const errors = new ErrorNews();
  const onError = (error: Error): void => {
    if (errors.isNews(error)) log.error({ err: error.message }, 'schedules');
  };
  let all: readonly Schedule[] = [];
  let shownAt = Number.NEGATIVE_INFINITY;
  const looks = repeat(
    async () => {
      all = await schedules.list(onError);
      if (all.length > 0 && steadyNow() - shownAt >= showMs) {
        await schedules.showDaemon();
        shownAt = steadyNow();
      }
      // One that is damaged keeps no others from being looked at.
      for (const { name } of all) if (!stop.aborted) await keeper.look(name).catch(onError);
    },
    { everyMs: lookMs, onError },
  );
  const finishes = repeat(
    async () => {
      for (const schedule of all) await finish(schedule).catch(onError);
    },
    { everyMs: lookMs, onError },
  );
  looks.now();
  await aborted(stop);
  await Promise.all([looks.stop(), finishes.stop()]);
}
