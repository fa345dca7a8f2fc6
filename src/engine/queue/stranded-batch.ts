import type { Job, Queue } from 'bullmq';
import { steadyNow } from '../../base/async/clock.ts';
import type { Datastore } from '../datastore/datastore.ts';
import type { RunBatchData } from './batch-flow.ts';
import { ifJobThere } from './bullmq.ts';
import type { OpenBatch } from './open-batch.ts';
import { type BatchJobData, encodeLedgerEntry, ledgerNote } from './payload.ts';
import type { RowQueue } from './row-queue.ts';

export type Stranding =
  /** `on its way`: workers and coordinator will find the batch, or its worker must end first. */
  | { readonly kind: 'on its way' }
  | { readonly kind: 'awaits its worker' }
  /** `stranded`: the child is gone, and nothing will hand out the parent. */
  | { readonly kind: 'stranded'; readonly parent: Job<RunBatchData, number> }
  | { readonly kind: 'vanished' };

const onItsWay: Stranding = { kind: 'on its way' };

/**
 * Finds out whether a batch can still end, when a key of the datastore was deleted or evicted: a job may be there and in no list, so that
 * nothing ever hands it out. Each script of BullMQ moves a job in one step, so a look never falls between two lists.
 *
 * A child in no list, or whose parent is gone, is removed here. Before that, its ledger gets `withdraw`, which a worker reads before its next
 * call: rows without an earlier intent are certainly not called.
 */
export async function strandingOf(
  batch: OpenBatch,
  queue: Pick<Queue<RunBatchData, number>, 'getJob'>,
  rows: Pick<RowQueue, 'job'>,
): Promise<Stranding> {
  const { id } = batch;
  if (batch.isAdding || batch.isCollected) return onItsWay;
  const child = await rows.job(id);
  if (child !== undefined) {
    const isOrphan = (await queue.getJob(id)) === undefined;
    if (!isOrphan && (await child.getState()) !== 'unknown') return onItsWay;
    if (batch.isCollected) return onItsWay;
    if (!(await removeChild(child, batch))) return { kind: 'awaits its worker' };
  }
  // The child has ended in one step with its effect on the parent, so the parent is ready now, or never.
  const parent = await queue.getJob(id);
  if (parent === undefined) return { kind: 'vanished' };
  const state = await parent.getState();
  return state === 'unknown' || state === 'waiting-children' ? { kind: 'stranded', parent } : onItsWay;
}

/** @returns false while a worker has the child job */
async function removeChild(child: Job<BatchJobData>, batch: OpenBatch): Promise<boolean> {
  batch.isWithdrawn ||= await ifJobThere(child.log(encodeLedgerEntry({ type: 'withdraw' })));
  if (!batch.isWithdrawn) return false;
  batch.outcomeOfLedger = await batch.outcomeFromLedger(child.progress === ledgerNote);
  try {
    await child.remove();
    return true;
  } catch {
    // A worker has the lock of the child. What the worker still writes counts.
    batch.outcomeOfLedger = undefined;
    return false;
  }
}

/** Reads the ids in all lists of the queue, but no more often than `everyMs`: returns undefined before the next reading is due. */
export function listedIdsEvery(rows: Pick<RowQueue, 'listedIds'>, everyMs: number) {
  let lookedAt = everyMs === Number.POSITIVE_INFINITY ? steadyNow() : Number.NEGATIVE_INFINITY;
  return async (): Promise<ReadonlySet<string> | undefined> => {
    if (steadyNow() - lookedAt < everyMs) return undefined;
    lookedAt = steadyNow();
    return rows.listedIds();
  };
}

/** Tells users why the rows of a lost batch are fed again. */
export async function errorOfLostKeys({ explainLoss }: Pick<Datastore, 'explainLoss'>): Promise<Error> {
  const reason = await explainLoss?.();
  return new Error(
    `a batch was in no list of the queue, so its rows are fed again, and those that may have been called are marked: ${
      reason ?? 'keys of the queue were deleted'
    }`,
  );
}
