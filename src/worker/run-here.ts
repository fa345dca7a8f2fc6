import type { Logger } from 'pino';
import type { ApiClient } from '../api/client.ts';
import type { ApiFailure } from '../api/failure.ts';
import type { Datastore } from '../datastore/datastore.ts';
import type { Journal } from '../journal/journal.ts';
import { rowsQueueName } from '../queue/names.ts';
import type { RowTask } from '../queue/payload.ts';
import { openRowQueue, type RowQueue } from '../queue/row-queue.ts';
import { startRowWorker } from '../queue/row-worker.ts';
import { watchCancelRequest } from '../run/cancel-request.ts';
import { startCoordinator } from '../run/coordinator.ts';
import { FeedWindow } from '../run/feed-window.ts';
import type { RunOptions } from '../run/record.ts';
import { createRowProcessor, type WorkerEvent } from './row-processor.ts';

/** Why a run that was worked on here came to its end. */
export type RunEnd =
  | { readonly state: 'completed' }
  | { readonly state: 'interrupted' }
  | { readonly state: 'cancelled' }
  /** More rows failed than the user allows. */
  | { readonly state: 'halted'; readonly because: 'threshold' }
  /** No row can succeed: wrong token, wrong base URL, no permission. */
  | { readonly state: 'halted'; readonly because: 'refused'; readonly failure: ApiFailure };

export interface RunHereOptions {
  readonly runId: string;
  readonly runFolder: string;
  readonly options: RunOptions;
  readonly datastore: Datastore;
  readonly journal: Journal;
  /** The rows without a result. */
  readonly tasks: AsyncIterable<RowTask>;
  readonly client: ApiClient;
  readonly log: Logger;
  readonly onEvent: (event: WorkerEvent) => void;
  /** Aborts when the user wants the run to stop. */
  readonly interrupt: AbortSignal;
}

/** How long calls in flight are waited for when a run stops before its end. */
const shutdownMs = 10_000;
/** Rows between two clean-ups of the datastore. */
const maintainEvery = 20_000;

/**
 * Works on a run in this process until its end: feeds its rows, calls the API, collects the results. The datastore
 * must hold nothing of any run before; afterwards it holds what was not collected, for `settleRun`.
 *
 * @throws a fatal error when the datastore or the disk fails; the journal then tells what was done before.
 */
export async function runHere(run: RunHereOptions): Promise<RunEnd> {
  const queue = openRowQueue(run.datastore, rowsQueueName(run.options.baseUrl));
  try {
    // Rows of runs whose folder somebody deleted: nobody would know what became of them.
    await queue.clear();
    await queue.setRate(run.options.rate?.limit);
    const end = await work(run, queue);
    run.log.info({ run: run.runId, state: end.state }, 'run ended');
    return end;
  } finally {
    await queue.close();
  }
}

async function work(run: RunHereOptions, queue: RowQueue): Promise<RunEnd> {
  const { options, log, datastore } = run;
  const window = new FeedWindow({
    concurrency: options.concurrency,
    ...(options.rate !== undefined && { ratePerSecond: options.rate.perSecond }),
  });
  const onError = (error: Error): void => {
    log.error({ run: run.runId, err: error.message }, 'datastore error');
    run.onEvent({ type: 'trouble', message: error.message });
  };
  let end: RunEnd | undefined;
  const stop = (reason: RunEnd): void => {
    end ??= reason;
    worker.pause();
    coordinator.stop();
  };

  const worker = startRowWorker(datastore, queue, {
    concurrency: options.concurrency,
    process: createRowProcessor({
      client: run.client,
      policy: { attempts: options.attempts, backoffMs: options.backoffMs },
      log,
      onEvent: (event) => {
        if (event.type === 'finished') window.finished();
        run.onEvent(event);
      },
      onHalt: (failure) => stop({ state: 'halted', because: 'refused', failure }),
    }),
    onError,
  });
  let sinceMaintenance = 0;
  const coordinator = startCoordinator({
    runId: run.runId,
    datastore,
    rowsQueue: queue.name,
    journal: run.journal,
    tasks: run.tasks,
    window,
    attempts: options.attempts,
    ...(options.maxFailures !== undefined && { maxFailures: options.maxFailures }),
    onCollected: async (results) => {
      sinceMaintenance += results.length;
      if (sinceMaintenance < maintainEvery) return;
      sinceMaintenance = 0;
      await datastore.maintain();
    },
    onError,
  });

  const interrupted = (): void => stop({ state: 'interrupted' });
  run.interrupt.addEventListener('abort', interrupted, { once: true });
  if (run.interrupt.aborted) interrupted();
  const endWatch = watchCancelRequest(run.runFolder, () => stop({ state: 'cancelled' }));
  try {
    const reached = await coordinator.end;
    if (reached === 'exceeded') stop({ state: 'halted', because: 'threshold' });
    return reached === 'done' ? { state: 'completed' } : (end ?? { state: 'interrupted' });
  } finally {
    endWatch();
    run.interrupt.removeEventListener('abort', interrupted);
    worker.pause();
    const stopped = worker.stop(shutdownMs).then(() => coordinator.close());
    // BullMQ waits for a datastore that is gone for good.
    await Promise.race([stopped, datastore.lost]);
  }
}
