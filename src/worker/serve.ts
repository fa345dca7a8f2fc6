import type { Logger } from 'pino';
import type { ApiClient } from '../api/client.ts';
import { openCluster } from '../cluster/cluster.ts';
import type { Datastore } from '../datastore/datastore.ts';
import type { CqbatchError } from '../errors.ts';
import type { Operation } from '../operation/operation.ts';
import type { Pace } from '../pace.ts';
import { openRowQueue } from '../queue/row-queue.ts';
import { deferred, onAbort, orAfter } from '../waiting.ts';
import { ApiWorker } from './api-worker.ts';

export interface ServeOptions {
  /** What rows may be for. */
  readonly operations: readonly Operation[];
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
  /** How the API is called, once it is known. */
  readonly pace: Pace | undefined;
  /** Whether it is done with taking rows. */
  readonly ending: boolean;
  /** Undefined when it was told to stop; else why it can't go on. */
  readonly end: Promise<CqbatchError | undefined>;
}

/** A datastore that is away would be waited for without end; its rows come back by themselves. */
const farewellMs = 3_000;

/** Calls the API for the rows of every run of a shared datastore, until it is told to stop or can't go on. */
export function serveRows({ stop, shutdownMs, version, ...options }: ServeOptions): Serving {
  const { datastore, baseUrl, log } = options;
  const rows = openRowQueue(datastore, baseUrl);
  const ended = deferred<CqbatchError | undefined>();
  let ending = false;
  let pace: Pace | undefined;
  const worker = new ApiWorker({
    ...options,
    rows,
    member: openCluster(datastore).join(baseUrl, version),
    onEvent() {},
    onPace(now) {
      pace = now;
    },
    onHalt: endBecause,
    // While it is known to be away, each connection says so every other second.
    onError: ({ message }) =>
      log[datastore.trouble === undefined ? 'warn' : 'debug']({ err: message }, 'datastore error'),
  });
  onAbort(stop, () => endBecause());

  /** The first reason counts. */
  function endBecause(stuck?: CqbatchError): void {
    ending = true;
    worker.pause();
    ended.resolve(stuck);
  }

  async function untilEnd(): Promise<CqbatchError | undefined> {
    const stuck = await ended.promise;
    const closed = worker.stop(shutdownMs).then(() => rows.close());
    await orAfter(closed, shutdownMs + farewellMs);
    return stuck;
  }

  return {
    get active() {
      return worker.active;
    },
    get pace() {
      return pace;
    },
    get ending() {
      return ending;
    },
    end: untilEnd(),
  };
}
