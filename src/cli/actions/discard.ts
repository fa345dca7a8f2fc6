import type { Journal } from '../../journal/journal.ts';
import type { RunRecord } from '../../run/record.ts';
import type { RunStore } from '../../run/store.ts';

/** Undoes a run that was planned and never begun. */
export async function discard(store: RunStore, record: RunRecord, journal: Journal): Promise<void> {
  await journal.close();
  await store.discard(record.id);
}
