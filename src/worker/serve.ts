import { openCluster } from '../cluster/cluster.ts';
import type { CqbatchError } from '../errors.ts';
import type { Pace } from '../pace.ts';
import { openRowQueue } from '../queue/row-queue.ts';
import { deferred, onAbort, orAfter } from '../waiting.ts';
import { ApiWorker, type ApiWorkerOptions } from './api-worker.ts';

/** Rows of another API than the one at `baseUrl` are left alone: the token is for this API. */
export interface ServeOptions
  extends Pick<
    ApiWorkerOptions,
    'operations' | 'datastore' | 'baseUrl' | 'client' | 'maxOutageMs' | 'concurrency' | 'log'
  > {
  /** Version of the program, to be shown. */
  readonly version: string;
  /** How long calls in flight may take to finish when the worker stops, milliseconds; then they are safely abandoned. */
  readonly shutdownMs: number;
  /** Aborts when the worker must stop. */
  readonly stop: AbortSignal;
}

/** A worker that serves. */
export type Serving = ReturnType<typeof serveRows>;

/** An unreachable datastore would block forever; its rows come back without this worker's help. */
const farewellMs = 3_000;

/** Calls the API for the rows of all runs on a shared datastore, until stopped or unable to continue. */
export function serveRows({ stop, shutdownMs, version, ...options }: ServeOptions) {
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
    // While the datastore is known to be away, each connection says so every other second.
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

  const end = ended.promise.then(async (stuck) => {
    const closed = worker.stop(shutdownMs).then(() => rows.close());
    await orAfter(closed, shutdownMs + farewellMs);
    return stuck;
  });

  return {
    /** Calls in flight. */
    get active(): number {
      return worker.active;
    },
    /** How the API is called, once known. */
    get pace(): Pace | undefined {
      return pace;
    },
    /** Whether it has stopped taking rows. */
    get ending(): boolean {
      return ending;
    },
    /** Resolves with undefined after a stop, or with the reason that the worker can't continue. */
    end,
  };
}
