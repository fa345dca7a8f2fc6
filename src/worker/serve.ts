import type { Logger } from 'pino';
import type { ApiClient } from '../api/client.ts';
import type { ApiFailure } from '../api/failure.ts';
import type { Datastore } from '../datastore/datastore.ts';
import type { CqbatchError } from '../errors.ts';
import { rowsQueueName } from '../queue/names.ts';
import { openRegistry } from '../queue/registry.ts';
import { openRowQueue } from '../queue/row-queue.ts';
import { startRowWorker } from '../queue/row-worker.ts';
import { createRowProcessor } from './row-processor.ts';
import { Watchdog } from './watchdog.ts';
import { startWorkerPresence } from './worker-presence.ts';

/** Why a worker has come to its end. */
export type ServeEnd =
  /** It was told to stop. */
  | { readonly because: 'stopped' }
  /** The API refuses everything that it asks: wrong token, wrong base URL, no permission. */
  | { readonly because: 'refused'; readonly failure: ApiFailure }
  /** It met rows that it does not understand. */
  | { readonly because: 'unknown'; readonly reason: CqbatchError }
  /** Rows wait, nothing keeps it from taking them, and yet it takes none. */
  | { readonly because: 'stuck' };

export interface ServeOptions {
  readonly datastore: Datastore;
  /** The API whose rows are called, normalised. The token is for this one: rows of another are left alone. */
  readonly baseUrl: string;
  readonly client: ApiClient;
  /** Rows in flight at once. */
  readonly concurrency: number;
  /** Version of the program, for those who look. */
  readonly version: string;
  readonly log: Logger;
  /** How long calls in flight have to finish when the worker stops, milliseconds; then they are abandoned safely. */
  readonly shutdownMs: number;
  /** Aborts when the worker is to stop. */
  readonly stop: AbortSignal;
}

/** A worker that serves. */
export interface Serving {
  /** Rows in flight. */
  readonly active: number;
  /** Whether it is done with taking rows. */
  readonly ending: boolean;
  readonly end: Promise<ServeEnd>;
}

const watchMs = 5_000;
/** A datastore that takes longer to say how it is does not answer. */
const answerMs = 10_000;

/** Calls the API for the rows of every run of a shared datastore, until it is told to stop or can't go on. */
export function serveRows(options: ServeOptions): Serving {
  const { datastore, baseUrl, log } = options;
  const registry = openRegistry(datastore);
  const queue = openRowQueue(datastore, rowsQueueName(baseUrl));
  let finished = 0;
  let ending: ServeEnd | undefined;
  let resolveEnd: () => void = () => {};
  const isEnding = new Promise<void>((resolve) => {
    resolveEnd = resolve;
  });
  const endBecause = (end: ServeEnd): void => {
    ending ??= end;
    worker.pause();
    resolveEnd();
  };

  const start = () =>
    startRowWorker(datastore, queue, {
      concurrency: options.concurrency,
      process: createRowProcessor({
        client: options.client,
        log,
        onEvent: (event) => {
          if (event.type === 'finished') finished += 1;
        },
        onHalt: (failure) => endBecause({ because: 'refused', failure }),
      }),
      onRefused: (reason) => endBecause({ because: 'unknown', reason }),
      onError: (error) => log.warn({ err: error.message }, 'datastore error'),
    });
  /** Claims of the workers that were replaced. */
  let startedBefore = 0;
  let worker = start();

  const presence = startWorkerPresence({
    registry,
    version: options.version,
    baseUrl,
    concurrency: options.concurrency,
    facts: () => ({ active: worker.active, finished }),
    onError: (error) => log.warn({ err: error.message }, 'datastore error'),
  });
  const watchdog = new Watchdog();
  const watch = busyOnce(async () => {
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
    if (verdict === 'suspicious') log.debug({ waiting }, 'rows wait and nothing starts');
    if (verdict === 'reconnect') {
      log.warn({ waiting }, 'rows wait, but nothing has started for a while: connecting anew');
      const silent = worker;
      startedBefore += silent.started;
      worker = start();
      void silent.stop(0);
    }
    if (verdict === 'give-up') endBecause({ because: 'stuck' });
  });
  const watching = setInterval(watch, watchMs);

  const stopped = (): void => endBecause({ because: 'stopped' });
  options.stop.addEventListener('abort', stopped, { once: true });
  if (options.stop.aborted) stopped();

  async function untilEnd(): Promise<ServeEnd> {
    await isEnding;
    clearInterval(watching);
    const closed = worker
      .stop(options.shutdownMs)
      .then(() => presence.stop())
      .then(() => Promise.all([queue.close(), registry.close()]));
    // A datastore that is away would be waited for without end; its rows come back by themselves.
    await Promise.race([closed, after(options.shutdownMs + 3_000)]);
    return ending ?? { because: 'stopped' };
  }

  return {
    get active() {
      return worker.active;
    },
    get ending() {
      return ending !== undefined;
    },
    end: untilEnd(),
  };

  /** Skips a turn while the last one is still waiting for the datastore, and survives its errors. */
  function busyOnce(work: () => Promise<void>): () => void {
    let busy = false;
    return () => {
      if (busy || ending !== undefined) return;
      busy = true;
      work()
        .catch((error: Error) => log.warn({ err: error.message }, 'datastore error'))
        .finally(() => {
          busy = false;
        });
    };
  }
}

function after(milliseconds: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, milliseconds).unref());
}
