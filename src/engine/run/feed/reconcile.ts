import { type Defer, withScope } from '../../../base/async/scope.ts';
import { neverAborted } from '../../../base/async/waiting.ts';
import type { Attribution } from '../../../domain/actor.ts';
import { isActive } from '../../cluster/entries.ts';
import type { Datastore } from '../../datastore/datastore.ts';
import { forgetBatches } from '../../queue/forget-batches.ts';
import { lockRun, type OpenRun, withOpenRun } from '../record/open-run.ts';
import {
  actualState,
  enterState,
  goesOnByItself,
  isSubmittedAfterStop,
  priorityOf,
  type RunRecord,
} from '../record/record.ts';
import { withCrashedTime } from '../record/record-keeper.ts';
import { isOfFilesOfRun, withJournalReader } from '../record/run-journal.ts';
import type { RunStore } from '../record/store.ts';
import { Coordinator } from './coordinator.ts';
import { FeedWindow } from './feed-window.ts';

export interface ReconcileOptions {
  /** Aborts when calls of other machines are no longer awaited. */
  readonly signal: AbortSignal;
  readonly onError: (error: Error) => void;
}

/**
 * Moves what the datastore holds of a run without a process into its journal, which then says alone what remains.
 *
 * @returns false when the signal aborted while another machine was calling a row
 */
export async function reconcile(run: OpenRun, { signal, onError }: ReconcileOptions): Promise<boolean> {
  const coordinator = await Coordinator.open(run, {
    tasks: nothing(),
    window: new FeedWindow({ concurrency: 1 }),
    priority: () => priorityOf(run.record),
    onCollected: async () => {},
    onError,
  });
  try {
    coordinator.end({ state: 'interrupted' });
    await coordinator.run();
    return await coordinator.drain(signal);
  } finally {
    await coordinator.close();
  }
}

async function* nothing(): AsyncGenerator<never> {}

/**
 * Moves the rows of a run from the datastore into its journal, then cancels the run.
 *
 * @returns undefined when the signal aborted first; the run is unchanged
 */
export async function cancelStoppedRun(
  store: RunStore,
  record: RunRecord,
  datastore: Datastore,
  how: ReconcileOptions,
  attribution: Attribution = {},
): Promise<RunRecord | undefined> {
  return withOpenRun({ store, record, datastore, purpose: `cancel ${record.id}` }, async (run) => {
    const reconciled = await reconcileStoppedRun(run, how);
    if (reconciled === undefined) return undefined;
    const cancelled = enterState(reconciled, 'cancelled', attribution);
    await store.save(cancelled);
    return cancelled;
  });
}

/**
 * Cancels a run without rows in a datastore, such as one that a guard halted; even while a daemon has the embedded datastore.
 *
 * @returns undefined when a datastore may hold rows of the run, or the run continues by itself; the run is unchanged
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

/** @returns undefined when the signal aborted */
async function reconcileStoppedRun(run: OpenRun, how: ReconcileOptions): Promise<RunRecord | undefined> {
  if (!(await reconcile(run, how))) return undefined;
  return withCrashedTime(run.record, run.journal.lastFinishedAt);
}

/**
 * Reconciles every run in the embedded datastore whose files can be read, and empties it, so that no row is called behind the user's back. If the signal aborts
 * first, nothing changes, and nothing can be fed.
 */
export async function claimForOurselves(run: OpenRun, how: ReconcileOptions): Promise<void> {
  const unreadable = await reconcileDeadRuns(run, how);
  if (unreadable === undefined) return;
  const { datastore, journal } = run;
  const isSettled = journal.unsettledRows()[Symbol.iterator]().next().done;
  // If this run is settled and the datastore is empty, there is nothing to collect, as after a run that ended properly.
  if (isSettled && (await datastore.isEmpty?.())) return datastore.renew();
  if (!(await reconcile(run, how))) return;
  await datastore.renew();
  // Only rows of deleted runs are left: no journal would record their results. limits.json keeps the API's waits.
  await run.rows.clear();
  for (const id of unreadable) await forgetBatches(datastore, id);
}

/** @returns the runs whose files can't be read; undefined when the signal aborted */
async function reconcileDeadRuns(
  { store, record: own, datastore }: OpenRun,
  how: ReconcileOptions,
): Promise<readonly string[] | undefined> {
  const unreadable: string[] = [];
  for (const record of await store.list(how.onError)) {
    if (record.id === own.id) continue;
    try {
      if (!(await mayHoldRows(store, record))) continue;
      if ((await reconcileAndSave(store, record, datastore, `run ${own.id}`, how)) === undefined)
        return undefined;
    } catch (error) {
      // The datastore is renewed: once its files are restored, that run marks each row that it had fed.
      if (!isOfFilesOfRun(error)) throw error;
      how.onError(error);
      unreadable.push(record.id);
    }
  }
  return unreadable;
}

/** Reconciles a run whose process has died, unless the journal already knows all rows. */
export async function settleDeadRun(
  store: RunStore,
  record: RunRecord,
  open: (defer: Defer) => Promise<Datastore>,
  onError: (error: Error) => void,
): Promise<RunRecord> {
  if (isActive(actualState(record)) || goesOnByItself(record)) return record;
  if (!(await mayHoldRows(store, record)) || (await isSettled(store, record))) return record;
  return withScope(async (defer) => {
    const datastore = await open(defer);
    const how = { signal: neverAborted, onError };
    return (await reconcileAndSave(store, record, datastore, `report ${record.id}`, how)) ?? record;
  });
}

/** Whether the embedded datastore may hold rows of a run without a process. */
async function mayHoldRows(store: RunStore, record: RunRecord): Promise<boolean> {
  const { state, queue } = record;
  if (queue !== undefined) return false;
  if (isActive(state) || state === 'failed') return true;
  // Its process may have died, or failed, before a user submitted it again.
  return isSubmittedAfterStop(record) && !(await isSettled(store, record));
}

async function reconcileAndSave(
  store: RunStore,
  record: RunRecord,
  datastore: Datastore,
  purpose: string,
  how: ReconcileOptions,
): Promise<RunRecord | undefined> {
  const reconciled = await withOpenRun({ store, record, datastore, purpose }, (run) =>
    reconcileStoppedRun(run, how),
  );
  if (reconciled === undefined) return undefined;
  // A daemon continues submitted runs.
  const state = record.submitted && record.state !== 'failed' ? 'submitted' : 'interrupted';
  const failure = record.state === 'failed' ? record.states.at(-1)?.reason : undefined;
  const settled = enterState(reconciled, state, { reason: failure ?? 'its process ended' });
  await store.save(settled);
  return settled;
}
