import type { Datastore } from '../datastore/datastore.ts';
import { rowsQueueName } from '../queue/names.ts';
import { openRowQueue } from '../queue/row-queue.ts';
import { enterState, type RunRecord } from './record.ts';
import { openRunJournal } from './run-journal.ts';
import { lockRun } from './run-lock.ts';
import { settleRun } from './settle-run.ts';
import type { RunStore } from './store.ts';
import { withTimeOfDead } from './time-at-work.ts';

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
    const rows = openRowQueue(datastore, rowsQueueName(record.options.baseUrl));
    const journal = await openRunJournal(store, record);
    try {
      if (datastore.exclusive) await rows.releaseClaims();
      if (!(await settleRun(datastore, rows, journal, id, signal))) return undefined;
      const cancelled = enterState(withTimeOfDead(record, journal.lastFinishedAt), 'cancelled');
      await store.save(cancelled);
      return cancelled;
    } finally {
      await journal.close();
      await rows.close();
      await lock?.release();
    }
  } finally {
    await datastore.close();
  }
}
