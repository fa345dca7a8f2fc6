import { join } from 'node:path';
import { openEmbedded } from '../datastore/embedded/embedded.ts';
import { openJournal } from '../journal/open.ts';
import { enterState, type RunRecord } from '../run/record.ts';
import { settleRun } from '../run/settle-run.ts';
import type { RunStore } from '../run/store.ts';

/**
 * Gives up a run on which no process works any more: what its datastore still holds goes into the journal, and rows
 * without a result stay so.
 */
export async function cancelStoppedRun(store: RunStore, record: RunRecord): Promise<RunRecord> {
  const datastore = await openEmbedded({ stateDir: store.stateDir, purpose: `cancel ${record.id}` });
  try {
    const journal = await openJournal(join(store.folder(record.id), 'journal.jsonl'), {
      runId: record.id,
      mustExist: true,
    });
    try {
      await settleRun(datastore, journal, record.id, record.options.baseUrl);
      const cancelled = enterState(record, 'cancelled');
      await store.save(cancelled);
      return cancelled;
    } finally {
      await journal.close();
    }
  } finally {
    await datastore.close();
  }
}
