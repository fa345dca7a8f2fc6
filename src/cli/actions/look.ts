import type { JournalReader } from '../../journal/journal.ts';
import type { RunRecord } from '../../run/record.ts';
import { readRunJournal } from '../../run/run-journal.ts';
import type { RunStore } from '../../run/store.ts';

/** Looks into the journal of a run, which another process may be writing at the same time. */
export async function withJournalReader<Result>(
  store: RunStore,
  record: RunRecord,
  look: (journal: JournalReader) => Promise<Result> | Result,
): Promise<Result> {
  const journal = await readRunJournal(store, record);
  try {
    return await look(journal);
  } finally {
    await journal.close();
  }
}
