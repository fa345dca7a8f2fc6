import type { Datastore } from '../datastore/datastore.ts';
import type { Journal, JournalEntry } from '../journal/journal.ts';
import { rowsQueueName } from '../queue/names.ts';
import { readLeftovers } from '../queue/settle.ts';

/**
 * Moves all that the datastore holds of a run into its journal: results that were not collected, what the attempts
 * of unfinished rows did, and which rows may have been called without a trace. Afterwards the journal alone tells
 * what is left to do, so that resuming, cancelling and starting another run all begin from the same simple state.
 *
 * Killed at any point, it can be done again. The datastore must be exclusively ours and no worker may run.
 */
export async function settleRun(
  datastore: Datastore,
  journal: Journal,
  runId: string,
  baseUrl: string,
): Promise<void> {
  const leftovers = await readLeftovers(datastore, runId, rowsQueueName(baseUrl));
  const entries: JournalEntry[] = leftovers.results.map((result) => ({ type: 'row', result }));
  const known = new Set(leftovers.results.map(({ row }) => row));
  for (const { row, history } of leftovers.unfinished) {
    known.add(row);
    if (history !== undefined) entries.push({ type: 'open', row, history });
  }
  for (const row of journal.unsettledRows()) {
    if (known.has(row)) continue;
    // Fed, but neither in the datastore nor in the journal: it may have been called, nobody can tell.
    const before = journal.history(row) ?? { attempts: 0, unprocessed: 0 };
    entries.push({ type: 'open', row, history: { ...before, unclear: true } });
  }
  await journal.append([...entries, { type: 'settled' }]);
  await leftovers.remove();
}
