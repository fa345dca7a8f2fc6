import { join } from 'node:path';
import { CqbatchError, fatalError } from '../../../base/errors/errors.ts';
import { circumstance, SystemError } from '../../../base/errors/system-error.ts';
import { addedUp, type OutcomeCounts, totalOf } from '../../../domain/terms.ts';
import { isActive } from '../../cluster/entries.ts';
import type { Journal, JournalReader, JournalView } from '../../journal/journal.ts';
import { openJournal, type RecordedRun } from '../../journal/open.ts';
import { countRows, type ResultCounts } from '../../report/join-results.ts';
import { resumeCommand } from '../../report/next-steps.ts';
import { decidedCounts } from '../../rows/decided-result.ts';
import { type RunRecord, unfinishedBecause } from './record.ts';
import { activeTime } from './record-keeper.ts';
import type { RunStore } from './store.ts';

export async function openRunJournal(store: RunStore, record: RunRecord): Promise<Journal> {
  return openJournal(journalPath(store.folder(record.id)), {
    runId: record.id,
    recorded: recordedRun(record),
  });
}

export const journalFile = 'journal.jsonl';

export function journalPath(runFolder: string): string {
  return join(runFolder, journalFile);
}

function recordedRun({ plan, counts }: RunRecord): RecordedRun {
  const counted = counts === undefined ? 0 : totalOf(counts) - totalOf(decidedCounts(plan).outcomes);
  return { rows: plan.rows, finished: counted };
}

/** The outcomes of a run's rows, including the rows that the plan has decided. */
export function outcomesOf({ plan }: RunRecord, { outcomeCounts }: JournalView): OutcomeCounts {
  return addedUp(decidedCounts(plan).outcomes, outcomeCounts);
}

export function unfinishedRows({ plan }: RunRecord, { finishedCount }: JournalView): number {
  return plan.callable - finishedCount;
}

export interface JournalSummary extends ResultCounts {
  readonly activeMs: number;
}

/** What the record says of a run once all rows have results. */
export type KnownSummary = Pick<JournalSummary, 'done' | 'outcomes' | 'activeMs'> & Partial<JournalSummary>;

export async function progressOf(store: RunStore, record: RunRecord): Promise<KnownSummary> {
  return summaryOfRecord(record) ?? (await readJournalSummary(store, record));
}

/** The summary in a record. Undefined while rows have no result, which only the journal knows. */
export function summaryOfRecord(record: RunRecord): KnownSummary | undefined {
  const { counts, unclear, plan, state } = record;
  if (counts === undefined || isActive(state) || totalOf(counts) < plan.rows) return undefined;
  const known = unclear === undefined ? {} : { unclear };
  return { done: plan.rows, outcomes: counts, activeMs: activeTime(record, undefined), ...known };
}

export function readJournalSummary(store: RunStore, record: RunRecord): Promise<JournalSummary> {
  return withJournalReader(store, record, (journal) => summaryOf(record, journal));
}

export function countsOf(record: RunRecord, journal: JournalView): ResultCounts {
  return countRows(journal, record.plan, unfinishedBecause(record));
}

export function summaryOf(record: RunRecord, journal: JournalReader): JournalSummary {
  return { ...countsOf(record, journal), activeMs: activeTime(record, journal.lastFinishedAt) };
}

export function openJournalReader(
  store: Pick<RunStore, 'folder'>,
  record: RunRecord,
): Promise<JournalReader> {
  return openJournal(journalPath(store.folder(record.id)), {
    runId: record.id,
    readOnly: true,
    recorded: recordedRun(record),
  });
}

export async function withJournalReader<Result>(
  store: RunStore,
  record: RunRecord,
  work: (journal: JournalReader) => Promise<Result> | Result,
): Promise<Result> {
  const journal = await openJournalReader(store, record);
  try {
    return await work(journal);
  } finally {
    await journal.close();
  }
}

/** Whether the files of one run are damaged or missing, which is no reason for other runs to fail. */
export function isOfFilesOfRun(error: unknown): error is CqbatchError {
  return (
    error instanceof CqbatchError && /^(?:JOURNAL|ROWS)_|^(?:RUN_UNREADABLE|FILE_VERSION)$/.test(error.code)
  );
}

/** Whether the folder has the whole journal, as far as the system lets this process look. */
export async function isIntact(store: RunStore, id: string, journal: Journal): Promise<boolean> {
  try {
    await store.load(id);
    return await journal.isIntact();
  } catch (error) {
    const cause = error instanceof SystemError ? error.cause : error;
    return circumstance(cause) !== undefined;
  }
}

/** Guards against our own defects: a run with an unfinished row is not complete. */
export function requireAllResults(record: RunRecord, journal: Journal): void {
  const { id } = record;
  const unfinished = unfinishedRows(record, journal);
  if (unfinished === 0) return;
  throw fatalError(
    'ROWS_WITHOUT_RESULT',
    `${unfinished} rows of run ${id} have no result: "${resumeCommand(record)}" calls them.`,
  );
}
