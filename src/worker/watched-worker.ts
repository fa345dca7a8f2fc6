import type { Logger } from 'pino';
import type { Datastore } from '../datastore/datastore.ts';
import { type CqbatchError, fatalError } from '../errors.ts';
import type { RowQueue } from '../queue/row-queue.ts';
import { type RowWorker, type RowWorkerOptions, startRowWorker } from '../queue/row-worker.ts';
import { after } from '../waiting.ts';
import { Watchdog, type WatchdogOptions } from './watchdog.ts';

export interface WatchedWorkerOptions extends RowWorkerOptions {
  readonly log: Logger;
  /** Called when rows wait, nothing keeps the worker from taking them, and it takes none, also after connecting anew. */
  readonly onStuck: () => void;
  /** How long nothing may start, and how often that is looked at; see `WatchdogOptions`. Default: every 5 s. */
  readonly patience?: WatchdogOptions & { readonly watchMs: number };
}

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

/** A row worker that is replaced, with new connections, when it has come to a standstill that no error explains. */
export function startWatchedWorker(
  datastore: Datastore,
  queue: RowQueue,
  options: WatchedWorkerOptions,
): RowWorker {
  const { log } = options;
  const watchdog = new Watchdog(options.patience);
  let worker = startRowWorker(datastore, queue, options);
  let { concurrency } = options;
  /** Claims of the workers that were replaced. */
  let startedBefore = 0;
  let paused = false;
  let watching = false;

  async function watch(): Promise<void> {
    const answer = await Promise.race([
      Promise.all([queue.countWaiting(), queue.restingFor()]),
      after(answerMs),
    ]);
    // One that keeps silent without having said that it is away is no excuse.
    const [waiting, resting] = answer ?? [1, 0];
    const verdict = watchdog.check({
      waiting,
      active: worker.active,
      started: startedBefore + worker.started,
      resting: resting > 0,
      away: datastore.trouble !== undefined,
    });
    if (paused) return;
    if (verdict === 'suspicious') log.debug({ waiting }, 'rows wait and nothing starts');
    if (verdict === 'reconnect') {
      log.warn({ waiting }, 'rows wait, but nothing has started for a while: connecting anew');
      const silent = worker;
      startedBefore += silent.started;
      worker = startRowWorker(datastore, queue, { ...options, concurrency });
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
