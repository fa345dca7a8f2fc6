import type { StartingPoint } from '../../../domain/pace.ts';
import type { ApiClient } from '../../api/client.ts';
import { onlyMembership } from '../../cluster/membership.ts';
import { usualConcurrency } from '../../rate/rate-controller.ts';
import { ApiWorker } from '../../worker/api-worker.ts';
import { FeedWindow } from '../feed/feed-window.ts';
import type { GuardHalt } from '../record/guards/guards.ts';
import { unfinishedRows } from '../record/run-journal.ts';
import type { RunInProgress } from './run-in-progress.ts';

export interface OwnWorkerOptions {
  readonly client: ApiClient;
  readonly window: FeedWindow;
  readonly startingPoint: StartingPoint | undefined;
  /** Stops the run if a guard says so. The guards learn of results before the journal has them. */
  readonly haltIf: (halt: GuardHalt | undefined) => void;
}

/** Starts a worker in the process of the run. */
export function startOwnWorker(
  { run, guards, keeper, cluster, options, tellEvent, onError }: RunInProgress,
  { client, window, startingPoint, haltIf }: OwnWorkerOptions,
): ApiWorker {
  const { record, datastore, rows, store, journal } = run;
  const { baseUrl, maxOutageMs, concurrency } = record.options;
  return new ApiWorker({
    datastore,
    rows,
    operations: store.operations,
    client,
    baseUrl,
    maxOutageMs,
    concurrency,
    membership:
      cluster?.join(record.options, options.version) ??
      onlyMembership(
        () => keeper.record.options.rate,
        () => unfinishedRows(record, journal),
      ),
    startingPoint,
    log: options.log,
    onEvent(event) {
      if (event.run !== record.id) return;
      if (event.type !== 'finished') return tellEvent(event);
      window.countFinished();
      haltIf(guards.takeOwnResult(event.result));
      // On a shared datastore a result counts once collected, like those of other machines.
      if (datastore.exclusive) tellEvent(event);
    },
    onPace(pace, { concurrency, inFlight }) {
      window.concurrency = concurrency;
      tellEvent({ type: 'pace', pace, inFlight });
    },
    proven: journal.provenOperations,
    onHalt: ({ message: reason }, place) => haltIf(guards.takeNews({ outage: { reason, place } })),
    onError,
  });
}

/** The window for rows that wait in the datastore, for this process's worker, for workers elsewhere, or for both. */
export function windowOf({ run, keeper, progress }: RunInProgress): FeedWindow {
  const { record, journal } = run;
  const { concurrency } = record.options;
  return new FeedWindow({
    concurrency: concurrency === 'auto' ? usualConcurrency : concurrency,
    ratePerSecond: () => keeper.record.options.rate?.perSecond,
    workers: () => progress.workers ?? 1,
    unfinishedRows: () => unfinishedRows(record, journal),
  });
}
