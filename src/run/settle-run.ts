import type { Datastore } from '../datastore/datastore.ts';
import type { Journal } from '../journal/journal.ts';
import type { RowQueue } from '../queue/row-queue.ts';
import { startCoordinator } from './coordinator.ts';
import { FeedWindow } from './feed-window.ts';

/**
 * Moves all that the datastore holds of a run, on which no process works any more, into its journal. Afterwards the
 * journal alone tells what is left to do, so that resuming, cancelling and starting another run all begin from the
 * same simple state.
 *
 * @returns whether it is through; not when the signal aborted while another machine was still calling a row.
 */
export async function settleRun(
  datastore: Datastore,
  rows: RowQueue,
  journal: Journal,
  runId: string,
  signal: AbortSignal,
): Promise<boolean> {
  const coordinator = await startCoordinator({
    runId,
    datastore,
    lost: datastore.lost,
    rows,
    journal,
    tasks: nothing(),
    window: new FeedWindow({ concurrency: 1 }),
    policy: { attempts: 1, backoffMs: 0 },
    onCollected: async () => {},
    onError: () => {},
  });
  try {
    coordinator.stop();
    await coordinator.end;
    return await coordinator.withdraw(signal);
  } finally {
    await coordinator.close();
  }
}

async function* nothing(): AsyncGenerator<never> {}
