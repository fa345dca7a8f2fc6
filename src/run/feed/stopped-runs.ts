import type { Attribution } from '../../actor.ts';
import { isActive } from '../../cluster/entries.ts';
import type { Datastore } from '../../datastore/datastore.ts';
import { lockRun, type OpenRun, withOpenRun } from '../record/open-run.ts';
import { enterState, goesOnByItself, type RunRecord } from '../record/record.ts';
import { withCrashedTime } from '../record/record-keeper.ts';
import { withJournalReader } from '../record/run-journal.ts';
import type { RunStore } from '../record/store.ts';
import { Coordinator } from './coordinator.ts';
import { FeedWindow } from './feed-window.ts';

/**
 * Moves all that the datastore holds of a run, on which no process works any more, into its journal. Afterwards the
 * journal alone tells what is left to do, so that resuming, cancelling and starting another run all begin from the
 * same simple state.
 *
 * @returns whether it is through; not when the signal aborted while another machine was still calling a row.
 */
export async function reconcile(run: OpenRun, signal: AbortSignal): Promise<boolean> {
  const coordinator = new Coordinator(run, {
    tasks: nothing(),
    window: new FeedWindow({ concurrency: 1 }),
    onCollected: async () => {},
    onError: () => {},
  });
  try {
    await coordinator.recover();
    coordinator.end({ state: 'interrupted' });
    await coordinator.run();
    return await coordinator.drain(signal);
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
  datastore: Datastore,
  signal: AbortSignal,
  attribution: Attribution = {},
): Promise<RunRecord | undefined> {
  return withOpenRun({ store, record, datastore, purpose: `cancel ${record.id}` }, async (run) => {
    const left = await reconcileStoppedRun(run, signal);
    if (left === undefined) return undefined;
    const cancelled = enterState(left, 'cancelled', attribution);
    await store.save(cancelled);
    return cancelled;
  });
}

/**
 * Gives up a stopped run of which no datastore holds anything, as one that a guard has halted: beside a daemon that has the
 * embedded datastore.
 *
 * @returns undefined when rows of it may be in a datastore, or it goes on by itself; the run is as it was.
 */
export async function cancelSettledRun(
  store: RunStore,
  id: string,
  attribution: Attribution = {},
): Promise<RunRecord | undefined> {
  const lock = await lockRun(store.folder(id), id, `cancel ${id}`);
  try {
    const record = await store.load(id);
    if (goesOnByItself(record) || !(await isSettled(store, record))) return undefined;
    const cancelled = enterState(record, 'cancelled', attribution);
    await store.save(cancelled);
    return cancelled;
  } finally {
    await lock.release();
  }
}

function isSettled(store: RunStore, record: RunRecord): Promise<boolean> {
  return withJournalReader(store, record, (journal) => [...journal.unsettledRows()].length === 0);
}

/** @returns the record with the time for which its dead process worked; undefined when the signal aborted. */
async function reconcileStoppedRun(run: OpenRun, signal: AbortSignal): Promise<RunRecord | undefined> {
  if (!(await reconcile(run, signal))) return undefined;
  return withCrashedTime(run.record, run.journal.lastFinishedAt);
}

/**
 * Leaves the embedded datastore empty and every run in it reconciled: no row is called behind the user's back. When the
 * signal aborts before that, all is as it was, and nothing can be fed.
 */
export async function claimForOurselves(run: OpenRun, interrupt: AbortSignal): Promise<void> {
  if (!(await reconcileDeadRuns(run, interrupt))) return;
  const { datastore, journal } = run;
  const isSettled = journal.unsettledRows()[Symbol.iterator]().next().done;
  // As after a run that has ended in order: there is nothing to collect, and it is known what became of each row.
  if (isSettled && (await datastore.isEmpty?.())) return datastore.renew();
  if (!(await reconcile(run, interrupt))) return;
  await datastore.renew();
  // Rows of runs whose folder was deleted: no journal would tell what became of them. What the API has asked to wait is
  // known to the next run anyway, unless it wants a rate of its own.
  await run.rows.clear();
}

/** @returns whether it is through; not when the signal aborted. */
async function reconcileDeadRuns(
  { store, record: own, datastore }: OpenRun,
  interrupt: AbortSignal,
): Promise<boolean> {
  for (const record of await store.list()) {
    const worked = isActive(record.state) || record.state === 'failed';
    if (record.id === own.id || !worked || record.queue !== undefined) continue;
    const left = await withOpenRun({ store, record, datastore, purpose: `run ${own.id}` }, (run) =>
      reconcileStoppedRun(run, interrupt),
    );
    if (left === undefined) return false;
    // A daemon goes on with what was submitted.
    const state = record.submitted && record.state !== 'failed' ? 'submitted' : 'interrupted';
    await store.save(enterState(left, state, { reason: 'its process ended' }));
  }
  return true;
}
