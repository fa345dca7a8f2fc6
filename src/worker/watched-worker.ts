import type { Logger } from 'pino';
import type { Datastore } from '../datastore/datastore.ts';
import { type CqbatchError, fatalError } from '../errors.ts';
import { BatchWorker, type BatchWorkerOptions } from '../queue/batch-worker.ts';
import type { RowQueue } from '../queue/row-queue.ts';
import { after } from '../waiting.ts';
import { Watchdog, type WatchdogOptions } from './watchdog.ts';

export interface WatchedWorkerOptions extends BatchWorkerOptions {
  readonly log: Logger;
  /** Whether rows wait because the API asked for it. */
  readonly isResting: () => boolean;
  /** Called when rows wait, nothing keeps the worker from taking them, and it takes none, also after connecting anew. */
  readonly onStuck: () => void;
  /** How long nothing may start, and how often that is looked at; see `WatchdogOptions`. Default: every 5 s. */
  readonly patience?: WatchdogOptions & { readonly watchMs: number };
}

/** What there is of a worker to whoever has it. */
export type WatchedWorker = Pick<
  BatchWorker,
  'active' | 'started' | 'concurrency' | 'resting' | 'pause' | 'stop'
>;

/** The error of a worker that has come to a standstill. */
export function stuck(): CqbatchError {
  return fatalError(
    'WORKER_STUCK',
    'Rows wait, nothing keeps this worker from taking them, and it takes none, also after connecting anew. It ends, so ' +
      'that whoever supervises it starts another.',
  );
}

const usualWatchMs = 5_000;
/** A datastore that takes longer to say how it is does not answer. */
const answerMs = 10_000;

/** A worker that is replaced, with new connections, when it has come to a standstill that no error explains. */
export function startWatchedWorker(
  datastore: Datastore,
  queue: RowQueue,
  options: WatchedWorkerOptions,
): WatchedWorker {
  const { log } = options;
  const watchdog = new Watchdog(options.patience);
  let worker = new BatchWorker(datastore, queue, options);
  let { concurrency } = options;
  /** Claims of the workers that were replaced. */
  let startedBefore = 0;
  let paused = false;
  let watching = false;

  async function watch(): Promise<void> {
    // One that keeps silent without having said that it is away is no excuse.
    const waiting = (await Promise.race([queue.countWaiting(), after(answerMs)])) ?? 1;
    const verdict = watchdog.check({
      waiting,
      active: worker.active,
      started: startedBefore + worker.started,
      resting: options.isResting(),
      away: datastore.trouble !== undefined,
    });
    if (paused) return;
    if (verdict === 'suspicious') log.debug({ waiting }, 'rows wait and nothing starts');
    if (verdict === 'reconnect') {
      log.warn({ waiting }, 'rows wait, but nothing has started for a while: connecting anew');
      const silent = worker;
      startedBefore += silent.started;
      worker = new BatchWorker(datastore, queue, { ...options, concurrency });
      worker.resting = silent.resting;
      void silent.stop(0);
    }
    if (verdict === 'give-up') options.onStuck();
  }

  const timer = setInterval(() => {
    if (watching || paused) return;
    watching = true;
    watch()
      .catch(options.onError)
      .finally(() => {
        watching = false;
      });
  }, options.patience?.watchMs ?? usualWatchMs);
  timer.unref();

  return {
    get active() {
      return worker.active;
    },
    get started() {
      return startedBefore + worker.started;
    },
    get concurrency() {
      return concurrency;
    },
    set concurrency(wanted) {
      if (wanted === concurrency) return;
      concurrency = wanted;
      worker.concurrency = wanted;
    },
    get resting() {
      return worker.resting;
    },
    set resting(wanted) {
      worker.resting = wanted;
    },
    pause() {
      paused = true;
      worker.pause();
    },
    stop(deadlineMs) {
      paused = true;
      clearInterval(timer);
      return worker.stop(deadlineMs);
    },
  };
}
