import { join } from 'node:path';
import { isActive } from '../cluster/entries.ts';
import { type OutcomeCounts, totalOf } from '../domain.ts';
import { fatalError } from '../errors.ts';
import type { CodeCount, Journal, JournalReader } from '../journal/journal.ts';
import { type BegunRun, openJournal } from '../journal/open.ts';
import type { RunRecord } from './record.ts';
import { timeAtWork } from './record-keeper.ts';
import type { RunStore } from './store.ts';

/** Opens the journal of a run that has a record, to go on with it. */
export function openRunJournal(store: RunStore, record: RunRecord): Promise<Journal> {
  return openJournal(journalPath(store.folder(record.id)), { runId: record.id, begun: begun(record) });
}

export function journalPath(runFolder: string): string {
  return join(runFolder, 'journal.jsonl');
}

/** Rows that are not called get their results before the record is written. */
function begun({ plan, counts }: RunRecord): BegunRun {
  const counted = totalOf(counts ?? {});
  return { rows: plan.rows, finished: Math.max(counted, plan.invalid + plan.duplicates) };
}

/** Rows by outcome, and how long the run was at work. The journal of a run that was left in order need not be read for that. */
export async function progressOf(
  store: RunStore,
  record: RunRecord,
): Promise<Pick<JournalSummary, 'counts' | 'atWorkMs'>> {
  const { counts } = record;
  if (counts !== undefined && !isActive(record.state))
    return { counts, atWorkMs: timeAtWork(record, undefined) };
  return readJournalSummary(store, record);
}

/** What a run has come to so far, as its journal tells. */
export interface JournalSummary {
  readonly counts: OutcomeCounts;
  readonly unclear: number;
  readonly codes: readonly CodeCount[];
  readonly atWorkMs: number;
}

export function readJournalSummary(store: RunStore, record: RunRecord): Promise<JournalSummary> {
  return withJournalReader(store, record, (journal) => summaryOf(record, journal));
}

/** The same of a journal that is open. */
export function summaryOf(record: RunRecord, journal: JournalReader): JournalSummary {
  return {
    counts: { ...journal.outcomeCounts },
    unclear: journal.unclearCount,
    codes: journal.codeCounts,
    atWorkMs: timeAtWork(record, journal.lastFinishedAt),
  };
}

/** Opens the journal of a run to look into it; another process may be writing it at the same time. */
export function openJournalReader(store: RunStore, record: RunRecord): Promise<JournalReader> {
  return openJournal(journalPath(store.folder(record.id)), {
    runId: record.id,
    readOnly: true,
    begun: begun(record),
  });
}

/** Looks into the journal of a run, and closes it. */
export async function withJournalReader<Result>(
  store: RunStore,
  record: RunRecord,
  look: (journal: JournalReader) => Promise<Result> | Result,
): Promise<Result> {
  const journal = await openJournalReader(store, record);
  try {
    return await look(journal);
  } finally {
    await journal.close();
  }
}

/** Whether all that was written into the journal of a run is in its folder still. */
export async function isIntact(store: RunStore, id: string, journal: Journal): Promise<boolean> {
  const hasRecord = await store.load(id).then(
    () => true,
    () => false,
  );
  return hasRecord && (await journal.isIntact());
}

/** Whatever may have gone wrong below: a run is not complete while a row has no result. */
export function requireAllResults({ id, plan }: RunRecord, { finishedCount }: Journal): void {
  if (finishedCount === plan.rows) return;
  throw fatalError(
    'ROWS_WITHOUT_RESULT',
    `${plan.rows - finishedCount} rows of run ${id} have no result: "cqbatch resume ${id}" calls them.`,
  );
}
