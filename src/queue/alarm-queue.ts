import type { Datastore } from '../datastore/datastore.ts';
import { bullmqOn, shortEventStream, stallOptions } from './bullmq.ts';

/** What rings at the times of a pattern. */
export interface Alarm {
  /** Drawn anew whenever anything about it changes. No colon. */
  readonly id: string;
  readonly pattern: string;
  readonly tz: string;
  /** What is told when it rings. */
  readonly name: string;
}

export interface AlarmOptions {
  readonly datastore: Datastore;
  /** Processes that open the same queue share its alarms. */
  readonly queue: string;
  /** The first time of a pattern after a moment, milliseconds since 1970; undefined: it comes no more. */
  readonly next: (pattern: string, tz: string, afterMs: number) => Promise<number | undefined>;
  /** Called in one of these processes when an alarm rings. */
  readonly onRing: (name: string) => Promise<unknown>;
  readonly onError: (error: Error) => void;
}

/** Alarms that are kept in the datastore. */
export interface AlarmQueue {
  /** Has these ring and no others. */
  keep(alarms: readonly Alarm[]): Promise<void>;
  close(): Promise<void>;
}

/** One that should have rung so long ago has lost its next time. */
const lostAfterMs = 60_000;

/**
 * Alarms on BullMQ's job schedulers: each time of a pattern is a job, which one of the processes gets. A job that is in it when
 * its process dies comes back, so that `onRing` has to know what it did before.
 */
export function openAlarmQueue({ datastore, queue: name, next, onRing, onError }: AlarmOptions): AlarmQueue {
  const { classes, options } = bullmqOn(datastore);
  const settings = {
    repeatStrategy: (afterMs: number, { pattern, tz }: { pattern?: string; tz?: string }) =>
      next(pattern ?? '', tz ?? 'UTC', afterMs),
  };
  const queue = new classes.Queue<{ name: string }>(name, { ...options, ...shortEventStream, settings });
  const worker = new classes.Worker<{ name: string }>(
    name,
    async (job) => void (await onRing(job.data.name)),
    {
      ...options,
      ...stallOptions,
      skipLockRenewal: false,
      settings,
      concurrency: 4,
    },
  );
  queue.on('error', onError);
  worker.on('error', onError);
  return {
    async keep(alarms) {
      const wanted = new Map(alarms.map((alarm) => [alarm.id, alarm]));
      for (const { key, next: due } of await queue.getJobSchedulers()) {
        if (!wanted.has(key)) await queue.removeJobScheduler(key);
        else if (due !== undefined && due > Date.now() - lostAfterMs) wanted.delete(key);
      }
      for (const { id, pattern, tz, name } of wanted.values()) {
        const opts = { removeOnComplete: true, removeOnFail: true };
        await queue.upsertJobScheduler(id, { pattern, tz }, { name, data: { name }, opts });
      }
    },
    async close() {
      await worker.close();
      await queue.close();
    },
  };
}
