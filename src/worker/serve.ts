import type { Logger } from 'pino';
import type { ApiClient } from '../api/client.ts';
import { openCluster } from '../cluster/cluster.ts';
import type { Datastore } from '../datastore/datastore.ts';
import type { CqbatchError } from '../errors.ts';
import { openRowQueue } from '../queue/row-queue.ts';
import { after } from '../waiting.ts';
import { startApiWorker } from './api-worker.ts';
import { stuck } from './watched-worker.ts';

/** Why a worker has come to its end. */
export type ServeEnd =
  /** It was told to stop. */
  | { readonly because: 'stopped' }
  /** The API refuses all that it asks, or is away; it met rows that it does not understand, or came to a standstill. */
  | { readonly because: 'stuck'; readonly reason: CqbatchError };

export interface ServeOptions {
  readonly datastore: Datastore;
  /** The API whose rows are called, normalised. The token is for this one: rows of another are left alone. */
  readonly baseUrl: string;
  readonly client: ApiClient;
  /** How long an outage of the API is waited for, milliseconds; absent: without end. */
  readonly maxOutageMs?: number | undefined;
  /** Calls in flight at once, or as many as are good. */
  readonly concurrency: number | 'auto';
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
  /** Calls in flight. */
  readonly active: number;
  /** Whether it is done with taking rows. */
  readonly ending: boolean;
  readonly end: Promise<ServeEnd>;
}

/** Calls the API for the rows of every run of a shared datastore, until it is told to stop or can't go on. */
export function serveRows(options: ServeOptions): Serving {
  const { datastore, baseUrl, log } = options;
  const cluster = openCluster(datastore);
  const queue = openRowQueue(datastore, baseUrl);
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

  const onError = (error: Error): void => log.warn({ err: error.message }, 'datastore error');
  const worker = startApiWorker({
    datastore,
    rows: queue,
    client: options.client,
    baseUrl,
    maxOutageMs: options.maxOutageMs,
    concurrency: options.concurrency,
    member: cluster.join(baseUrl, options.version),
    log,
    onEvent() {},
    onPace() {},
    onHalt: (reason) => endBecause({ because: 'stuck', reason }),
    onRefused: (reason) => endBecause({ because: 'stuck', reason }),
    onStuck: () => endBecause({ because: 'stuck', reason: stuck() }),
    onError,
  });
  const stopped = (): void => endBecause({ because: 'stopped' });
  options.stop.addEventListener('abort', stopped, { once: true });
  if (options.stop.aborted) stopped();

  async function untilEnd(): Promise<ServeEnd> {
    await isEnding;
    const closed = worker.stop(options.shutdownMs).then(() => queue.close());
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
}
