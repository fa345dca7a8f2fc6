import { deferred, onAbort, withTimeout } from '../../base/async/waiting.ts';
import { ErrorThrottle, type LastingErrors } from '../../base/errors/error-throttle.ts';
import type { CqbatchError } from '../../base/errors/errors.ts';
import type { Pace } from '../../domain/pace.ts';
import type { LimitedApi } from '../../domain/terms.ts';
import { openCluster } from '../cluster/cluster.ts';
import { openRowQueue } from '../queue/row-queue.ts';
import { ApiWorker, type ApiWorkerOptions } from './api-worker.ts';

export interface ServeOptions
  extends Pick<
    ApiWorkerOptions,
    'operations' | 'datastore' | 'client' | 'maxOutageMs' | 'concurrency' | 'log'
  > {
  readonly api: LimitedApi;
  readonly version: string;
  /** The time for calls in flight at a stop; then their rows go back. */
  readonly shutdownMs: number;
  readonly lastingErrors: LastingErrors;
  readonly stop: AbortSignal;
}

export type ServingWorker = ReturnType<typeof serveRows>;

/** The time for an unreachable datastore at the end: its rows come back without this worker. */
const farewellMs = 3_000;

/** Serves all runs on a shared datastore, until stopped or unable to continue; then closes the client. */
export function serveRows({ stop, shutdownMs, version, api, lastingErrors, ...options }: ServeOptions) {
  const { datastore, client, log } = options;
  const rows = openRowQueue(datastore, api);
  const ended = deferred<CqbatchError | undefined>();
  const errors = new ErrorThrottle();
  let pace: Pace | undefined;
  let idleBecause: string | undefined;
  const worker = new ApiWorker({
    ...options,
    baseUrl: api.baseUrl,
    rows,
    membership: openCluster(datastore).join(api, version),
    onEvent() {},
    onPace(now) {
      pace = now;
    },
    onHalt: (reason) => (reason.code === 'UNKNOWN_PAYLOAD' ? leaveIdle(reason) : endBecause(reason)),
    onError(error) {
      lastingErrors.see(error);
      // While the datastore is away, each connection reports an error every other second: these are no news.
      const level = datastore.trouble === undefined && errors.isNews(error) ? 'warn' : 'debug';
      log[level]({ err: error.message }, 'datastore error');
    },
  });
  onAbort(stop, () => endBecause());

  /** Leaves the worker idle: a supervisor would start the same version again and again. */
  function leaveIdle({ message }: CqbatchError): void {
    idleBecause = message;
    log.error({ err: message }, 'takes no more rows until it is updated');
    worker.stop(shutdownMs).catch(({ message: err }: Error) => log.warn({ err }, 'datastore error'));
  }

  function endBecause(stuck?: CqbatchError): void {
    worker.pause();
    ended.resolve(stuck);
  }

  const end = ended.promise.then(async (stuck) => {
    const closed = worker.stop(shutdownMs).then(() => rows.close());
    await withTimeout(closed, shutdownMs + farewellMs);
    await client.close();
    return stuck;
  });

  return {
    get active(): number {
      return worker.callsInFlight;
    },
    get idleBecause(): string | undefined {
      return idleBecause;
    },
    get pace(): Pace | undefined {
      return pace;
    },
    /** Resolves with undefined after a stop, or with the reason why the worker can't continue. */
    end,
  };
}
