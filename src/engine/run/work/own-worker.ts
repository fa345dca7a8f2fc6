import type { StartingPoint } from '../../../domain/pace.ts';
import type { RowResult } from '../../../domain/row-result.ts';
import type { ApiClient } from '../../api/client.ts';
import { onlyMembership } from '../../cluster/membership.ts';
import { usualConcurrency } from '../../rate/rate-controller.ts';
import { ApiWorker } from '../../worker/api-worker.ts';
import type { StopReason } from '../feed/coordinator.ts';
import { FeedWindow } from '../feed/feed-window.ts';
import { unfinishedRows } from '../record/run-journal.ts';
import type { RunInProgress } from './run-in-progress.ts';

export interface OwnWorkerOptions {
  readonly client: ApiClient;
  readonly window: FeedWindow;
  readonly startingPoint: StartingPoint | undefined;
  /** Called when the worker has the result of a row, before the journal has it. */
  readonly onFinished: (result: RowResult) => void;
  readonly stop: (reason: StopReason) => void;
}

/** Starts a worker in the process of the run. */
export function startOwnWorker(
  { run, keeper, cluster, options, tell, onError }: RunInProgress,
  { client, window, startingPoint, onFinished, stop }: OwnWorkerOptions,
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
      if (event.type !== 'finished') return tell(event);
      window.finished();
      onFinished(event.result);
      // On a shared datastore a result counts once collected, like those of other machines.
      if (datastore.exclusive) tell(event);
    },
    onPace(pace, { concurrency, inFlight }) {
      window.concurrency = concurrency;
      tell({ type: 'pace', pace, inFlight });
    },
    proven: journal.provenOperations,
    onHalt: ({ message: reason }, placeToSee) =>
      stop({ state: 'halted', because: 'stuck', reason, ...(placeToSee !== undefined && { placeToSee }) }),
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
    unfinished: () => unfinishedRows(record, journal),
  });
}
