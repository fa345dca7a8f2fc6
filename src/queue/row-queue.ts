import { steadyNow, watchClock } from '../clock.ts';
import type { Datastore } from '../datastore/datastore.ts';
import { bullmqOn, shortEventStream, stallOptions } from './bullmq.ts';
import type { CallRate } from './call-rate.ts';
import { delayAnew } from './delay-anew.ts';
import type { RowJobData } from './payload.ts';

/** High enough never to be reached; BullMQ heeds a pause only where some limit is set. */
const noLimit: CallRate = { calls: 1_000_000_000, perMs: 1_000 };

const clockToleranceMs = 100;

/** The queue of all rows for one API: its rate limit and its pauses act on every worker of the datastore. */
export interface RowQueue {
  readonly name: string;
  /** Sets the rate of all workers, from now on; `undefined` lifts the limit. */
  setRate(rate: CallRate | undefined): Promise<void>;
  /** Lets no worker claim a row for that long; never shortens a longer pause. */
  pauseFor(milliseconds: number): Promise<void>;
  /**
   * Lets no worker claim a row for that long at the most, as `pauseFor` does, until what it resolves with is called. A
   * pause that the API asked for before outlasts it.
   */
  hold(milliseconds: number): Promise<() => Promise<void>>;
  /** Ends every rest but those that this process has made itself. */
  endRest(): Promise<void>;
  /** How long no worker will claim a row, in milliseconds: because the rate is used up, or the API asked to wait. */
  restingFor(): Promise<number>;
  /** Rows of any run that are ready to be claimed. */
  countWaiting(): Promise<number>;
  /** Looks after rows whose workers died, in a process without a row worker; workers do so anyway. */
  watchStalled(): Promise<void>;
  /** Gives back the rows that a dead process held: only for a datastore that is exclusively ours. */
  releaseClaims(): Promise<void>;
  /** Removes every row, whoever may be working on it, and every pause: only for a datastore that is exclusively ours. */
  clear(): Promise<void>;
  close(): Promise<void>;
}

export function openRowQueue(datastore: Datastore, name: string): RowQueue {
  const { classes, options } = bullmqOn(datastore);
  const queue = new classes.Queue<RowJobData>(name, { ...options, ...shortEventStream });
  // BullMQ throws what nobody listens for; each call here reports its own failure already.
  queue.on('error', () => {});
  /** Until when this process has let no worker claim a row, of the steady clock. */
  let pausedUntil = 0;
  let stalledWatch: { close(): Promise<void> } | undefined;

  const setRate = async (rate: CallRate): Promise<void> => {
    await queue.setGlobalRateLimit(rate.calls, rate.perMs);
  };

  const pauseFor = async (milliseconds: number): Promise<void> => {
    if ((await queue.getGlobalRateLimit()) === null) await setRate(noLimit);
    const wanted = Math.max(1, Math.ceil(milliseconds));
    pausedUntil = Math.max(pausedUntil, steadyNow() + wanted);
    if ((await queue.getRateLimitTtl()) < wanted) await queue.rateLimit(wanted);
  };

  /** An own datastore keeps the rate and its pauses by the system's clock, a server by its own. */
  const clock = watchClock((byMs) => {
    const repaired = [...(byMs < 0 ? [delayAnew(queue)] : []), ...(datastore.exclusive ? [endRest()] : [])];
    // What could not be repaired ends by itself, later.
    Promise.all(repaired).catch(() => {});
  });

  async function endRest(): Promise<void> {
    await queue.removeRateLimitKey();
    const left = pausedUntil - steadyNow();
    if (left > 0) await pauseFor(left);
  }

  return {
    name,
    async setRate(rate) {
      if (rate !== undefined) return setRate(rate);
      const current = await queue.getGlobalRateLimit();
      // A pause that the API asked for is left alone: it needs some limit.
      if (current !== null && current.max !== noLimit.calls) await queue.removeGlobalRateLimit();
    },
    pauseFor,
    async hold(milliseconds) {
      // What is shorter than a window of the rate is no pause.
      const shortest = (await queue.getGlobalRateLimit())?.duration ?? 0;
      const paused = (await queue.getRateLimitTtl()) > shortest;
      await pauseFor(milliseconds);
      const until = performance.now() + milliseconds;
      return async () => {
        // A longer rest is somebody else's; the clocks of two machines never agree to the millisecond.
        const left = until - performance.now() + clockToleranceMs;
        if (!paused && (await queue.getRateLimitTtl()) <= left) await queue.removeRateLimitKey();
      };
    },
    endRest,
    async restingFor() {
      const limit = await queue.getGlobalRateLimit();
      if (limit === null) return 0;
      return Math.max(0, await queue.getRateLimitTtl(limit.max));
    },
    countWaiting: () => queue.getJobCountByTypes('waiting', 'prioritized'),
    async watchStalled() {
      if (stalledWatch !== undefined) return;
      const watch = new classes.Worker(name, null, { ...options, ...stallOptions, autorun: false });
      watch.on('error', () => {});
      stalledWatch = watch;
      await watch.startStalledCheckTimer();
    },
    async releaseClaims() {
      for (const job of await queue.getActive()) await job.moveToWait('0');
    },
    async clear() {
      await queue.pause();
      await queue.obliterate({ force: true });
      await queue.removeRateLimitKey();
      pausedUntil = 0;
    },
    async close() {
      clock.close();
      await stalledWatch?.close();
      await queue.close();
    },
  };
}
