import { join } from 'node:path';
import { isActive } from '../../cluster/entries.ts';
import { totalOf } from '../../domain.ts';
import { fatalError } from '../../errors.ts';
import type { Journal, JournalReader, JournalView } from '../../journal/journal.ts';
import { type JournalOptions, openJournal, type RecordedRun } from '../../journal/open.ts';
import { countRows, type ResultCounts } from '../../report/join-results.ts';
import { circumstance, SystemError } from '../../system-error.ts';
import { type RunRecord, unfinishedBecause } from './record.ts';
import { activeTime } from './record-keeper.ts';
import { signedJournal } from './statement-file.ts';
import type { RunStore } from './store.ts';

/** Opens the journal of a recorded run for writing. */
export async function openRunJournal(store: RunStore, record: RunRecord): Promise<Journal> {
  const folder = store.folder(record.id);
  return openJournal(journalPath(folder), {
    runId: record.id,
    recorded: recordedRun(record),
    signed: await signedJournal(folder, journalFile),
  });
}

export const journalFile = 'journal.jsonl';

export function journalPath(runFolder: string): string {
  return join(runFolder, journalFile);
}

/** Rows without a call have their results before the record is written. */
function recordedRun({ plan, counts }: RunRecord): RecordedRun {
  const counted = totalOf(counts ?? {});
  return { rows: plan.rows, finished: Math.max(counted, plan.invalid + plan.duplicates) };
}

/** The progress of a run according to its journal. */
export interface JournalSummary extends ResultCounts {
  readonly activeMs: number;
}

/** The part that the record contains once all rows have results. */
export type KnownSummary = Pick<JournalSummary, 'done' | 'outcomes' | 'activeMs'> & Partial<JournalSummary>;

/** The progress of a run. Reads the journal only if the record is not enough. */
export async function progressOf(store: RunStore, record: RunRecord): Promise<KnownSummary> {
  return summaryOfRecord(record) ?? (await readJournalSummary(store, record));
}

/** Undefined while rows have no result: only the journal knows them. */
export function summaryOfRecord(record: RunRecord): KnownSummary | undefined {
  const { counts, plan, state } = record;
  if (counts === undefined || isActive(state) || totalOf(counts) < plan.rows) return undefined;
  return { done: plan.rows, outcomes: counts, activeMs: activeTime(record, undefined) };
}

export function readJournalSummary(store: RunStore, record: RunRecord): Promise<JournalSummary> {
  return withJournalReader(store, record, (journal) => summaryOf(record, journal));
}

/** Counts rows as the report does. */
export function countsOf(record: RunRecord, journal: JournalView): ResultCounts {
  return countRows(journal, record.plan.rows, unfinishedBecause(record));
}

export function summaryOf(record: RunRecord, journal: JournalReader): JournalSummary {
  return { ...countsOf(record, journal), activeMs: activeTime(record, journal.lastFinishedAt) };
}

/**
 * Opens the journal of a run for reading; another process may be writing it.
 *
 * @param how whether to check that no line was changed
 */
export function openJournalReader(
  store: RunStore,
  record: RunRecord,
  { checked = false, signed }: Pick<JournalOptions, 'checked' | 'signed'> = {},
): Promise<JournalReader> {
  return openJournal(journalPath(store.folder(record.id)), {
    runId: record.id,
    readOnly: true,
    checked,
    recorded: recordedRun(record),
    signed,
  });
}

/** @throws a fatal error `JOURNAL_CORRUPT` when a line was changed */
export async function checkJournal(store: RunStore, record: RunRecord): Promise<void> {
  const signed = await signedJournal(store.folder(record.id), journalFile);
  const journal = await openJournalReader(store, record, { checked: true, signed });
  await journal.close();
}

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

/** Whether the folder of a run still has its complete journal, as far as the system lets this process look. */
export async function isIntact(store: RunStore, id: string, journal: Journal): Promise<boolean> {
  try {
    await store.load(id);
    return await journal.isIntact();
  } catch (error) {
    const cause = error instanceof SystemError ? error.cause : error;
    return circumstance(cause) !== undefined;
  }
}

/** Guards against any defect: a run with an unfinished row is not complete. */
export function requireAllResults({ id, plan }: RunRecord, { finishedCount }: Journal): void {
  if (finishedCount === plan.rows) return;
  throw fatalError(
    'ROWS_WITHOUT_RESULT',
    `${plan.rows - finishedCount} rows of run ${id} have no result: "cqbatch resume ${id}" calls them.`,
  );
}
