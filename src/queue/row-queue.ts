import type { Queue } from 'bullmq';
import type { Datastore } from '../datastore/datastore.ts';
import { bullmqOn, shortEventStream } from './bullmq.ts';

/** A rate: so many calls in so many milliseconds; both integers from 1. */
export interface CallRate {
  readonly calls: number;
  readonly perMs: number;
}

/** High enough never to be reached; BullMQ heeds a pause only where some limit is set. */
const noLimit: CallRate = { calls: 1_000_000_000, perMs: 1_000 };

/** The queue of all rows for one API: its rate limit and its pauses act on every worker of the datastore. */
export interface RowQueue {
  readonly name: string;
  /** Sets the rate of all workers, from now on; `undefined` lifts the limit. */
  setRate(rate: CallRate | undefined): Promise<void>;
  /** Lets no worker claim a row for that long; never shortens a longer pause. */
  pauseFor(milliseconds: number): Promise<void>;
  /** Removes every row, whoever may be working on it: only for a datastore that is exclusively ours. */
  clear(): Promise<void>;
  close(): Promise<void>;
}

export function openRowQueue(datastore: Datastore, name: string): RowQueue {
  const { classes, options } = bullmqOn(datastore);
  const queue: Pick<
    Queue,
    | 'setGlobalRateLimit'
    | 'removeGlobalRateLimit'
    | 'getGlobalRateLimit'
    | 'removeRateLimitKey'
    | 'getRateLimitTtl'
    | 'rateLimit'
    | 'pause'
    | 'obliterate'
    | 'close'
  > = ignoreErrors(new classes.Queue(name, { ...options, ...shortEventStream }));

  const setRate = async (rate: CallRate): Promise<void> => {
    await queue.setGlobalRateLimit(rate.calls, rate.perMs);
  };

  return {
    name,
    async setRate(rate) {
      if (rate !== undefined) return setRate(rate);
      await queue.removeGlobalRateLimit();
      await queue.removeRateLimitKey();
    },
    async pauseFor(milliseconds) {
      if ((await queue.getGlobalRateLimit()) === null) await setRate(noLimit);
      const wanted = Math.max(1, Math.ceil(milliseconds));
      if ((await queue.getRateLimitTtl()) < wanted) await queue.rateLimit(wanted);
    },
    async clear() {
      await queue.pause();
      await queue.obliterate({ force: true });
    },
    close: () => queue.close(),
  };
}

/** BullMQ throws what nobody listens for; each call here reports its own failure already. */
function ignoreErrors<Q extends { on(event: 'error', listener: () => void): unknown }>(queue: Q): Q {
  queue.on('error', () => {});
  return queue;
}
