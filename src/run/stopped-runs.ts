import { isActive } from '../cluster/entries.ts';
import type { Datastore } from '../datastore/datastore.ts';
import type { Journal } from '../journal/journal.ts';
import { openRowQueue, type RowQueue } from '../queue/row-queue.ts';
import { startCoordinator } from './coordinator.ts';
import { FeedWindow } from './feed-window.ts';
import { enterState, type RunRecord } from './record.ts';
import { withTimeOfDead } from './record-keeper.ts';
import { openRunJournal } from './run-journal.ts';
import { lockRun } from './run-lock.ts';
import type { RunStore } from './store.ts';

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

/**
 * Gives up a run on which no process works any more: what its datastore still holds goes into the journal, and rows
 * without a result stay so. Calls that other machines are making are waited for until the signal aborts.
 *
 * @returns undefined when the signal aborted before that; the run is as it was.
 */
export async function cancelStoppedRun(
  store: RunStore,
  record: RunRecord,
  openDatastore: (purpose: string) => Promise<Datastore>,
  signal: AbortSignal,
): Promise<RunRecord | undefined> {
  const { id } = record;
  const datastore = await openDatastore(`cancel ${id}`);
  try {
    const lock = datastore.exclusive ? undefined : await lockRun(store.folder(id), id, `cancel ${id}`);
    try {
      const left = await settleStoppedRun(store, record, datastore, signal);
      if (left === undefined) return undefined;
      const cancelled = enterState(left, 'cancelled');
      await store.save(cancelled);
      return cancelled;
    } finally {
      await lock?.release();
    }
  } finally {
    await datastore.close();
  }
}

/** @returns the record with the time that its dead process was at work; undefined when the signal aborted. */
async function settleStoppedRun(
  store: RunStore,
  record: RunRecord,
  datastore: Datastore,
  signal: AbortSignal,
): Promise<RunRecord | undefined> {
  const rows = openRowQueue(datastore, record.options.baseUrl);
  const journal = await openRunJournal(store, record);
  try {
    if (datastore.exclusive) await rows.releaseClaims();
    if (!(await settleRun(datastore, rows, journal, record.id, signal))) return undefined;
    return withTimeOfDead(record, journal.lastFinishedAt);
  } finally {
    await journal.close();
    await rows.close();
  }
}

/** What the run that claims a datastore works with. */
export interface ClaimingRun {
  readonly datastore: Datastore;
  readonly rows: RowQueue;
  readonly journal: Journal;
}

/**
 * Leaves the embedded datastore empty and every run in it settled: no row is called behind the user's back. When the
 * signal aborts before that, all is as it was, and nothing can be fed.
 */
export async function claimForOurselves(
  store: RunStore,
  runId: string,
  { datastore, rows, journal }: ClaimingRun,
  interrupt: AbortSignal,
): Promise<void> {
  if (!(await settleDeadRuns(store, datastore, runId, interrupt))) return;
  await rows.releaseClaims();
  if (!(await settleRun(datastore, rows, journal, runId, interrupt))) return;
  await datastore.renew();
  // Rows of runs whose folder somebody deleted: nobody would know what became of them. What the API has asked to wait is
  // known to the next run anyway, unless it wants a rate of its own.
  await rows.clear();
}

/** @returns whether it is through; not when the signal aborted. */
async function settleDeadRuns(
  store: RunStore,
  datastore: Datastore,
  ownId: string,
  interrupt: AbortSignal,
): Promise<boolean> {
  for (const record of await store.list()) {
    const worked = isActive(record.state) || record.state === 'failed';
    if (record.id === ownId || !worked || record.queue !== undefined) continue;
    const left = await settleStoppedRun(store, record, datastore, interrupt);
    if (left === undefined) return false;
    await store.save(enterState(left, 'interrupted', 'its process ended'));
  }
  return true;
}
