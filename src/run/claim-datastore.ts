import { isActive } from '../cluster/entries.ts';
import type { Datastore } from '../datastore/datastore.ts';
import type { Journal } from '../journal/journal.ts';
import { rowsQueueName } from '../queue/names.ts';
import { openRowQueue, type RowQueue } from '../queue/row-queue.ts';
import { enterState } from './record.ts';
import { openRunJournal } from './run-journal.ts';
import { settleRun } from './settle-run.ts';
import type { RunStore } from './store.ts';
import { withTimeOfDead } from './time-at-work.ts';

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
    const rows = openRowQueue(datastore, rowsQueueName(record.options.baseUrl));
    const journal = await openRunJournal(store, record);
    try {
      await rows.releaseClaims();
      if (!(await settleRun(datastore, rows, journal, record.id, interrupt))) return false;
    } finally {
      await journal.close();
      await rows.close();
    }
    const left = withTimeOfDead(record, journal.lastFinishedAt);
    await store.save(enterState(left, 'interrupted', 'its process ended'));
  }
  return true;
}
