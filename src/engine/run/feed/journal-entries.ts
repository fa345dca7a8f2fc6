import { noHistory, perhapsCalled } from '../../../domain/attempts.ts';
import type { AttemptHistory } from '../../../domain/row-result.ts';
import type { Journal } from '../../journal/journal.ts';
import { decodeResult, type JournalEntry, type ResultEntry, type ResultLine } from '../../journal/line.ts';
import type { FedBatch } from '../../queue/batch-flow.ts';
import { rangesOf } from '../../queue/batch-flow.ts';
import type { LostEntries } from '../../queue/lost-entries.ts';
import { type RowTask, type UnfinishedRow, uncalledRow, unreadableResult } from '../../queue/payload.ts';
import type { FeedEpoch } from './feed-epoch.ts';

type KnownHistory = Pick<Journal, 'history'>;
type KnownFeeding = Pick<Journal, 'isUnsettled' | 'fedEpochOf'>;

/** The entry of a row that may have been called. How often it was called is lost; most likely once. */
export function possiblyCalledEntry(row: number, journal: KnownHistory): JournalEntry {
  return openEntry(row, withLostResult(perhapsCalled(journal.history(row) ?? noHistory)));
}

/**
 * Whether the datastore may have forgotten calls of the row: it was fed in another epoch than the present one, and has no result. What a
 * worker or an older copy of the datastore still says of such a row is not all that happened.
 */
export function mayHaveUnknownCalls(
  row: number,
  journal: KnownFeeding,
  epoch: Pick<FeedEpoch, 'isPast'>,
): boolean {
  return journal.isUnsettled(row) && epoch.isPast(journal.fedEpochOf(row));
}

/** Rows in the datastore. */
export interface DatastoreRows {
  /** Rows in batches that workers have or can claim, or that wait for their collection. */
  readonly inDatastore: ReadonlySet<number>;
  /** Rows in batches that an earlier coordinator took back without a call. */
  readonly removed: ReadonlySet<number>;
  /** The ids of batches that arrived, and whose rows the datastore does not tell any more. */
  readonly traces: ReadonlySet<string>;
}

/**
 * Fed rows of which neither the datastore nor the journal knows more. In an unchanged epoch, the rows of a batch that was added, or of which
 * the datastore has a trace, were lost with a key, and others never arrived. In another epoch all may have been called.
 */
export function lostSince(
  epoch: Pick<FeedEpoch, 'isPresent'>,
  { inDatastore, removed, traces }: DatastoreRows,
  journal: Pick<Journal, 'unsettledRows' | 'fedEpochOf' | 'batchOf' | 'isAdded'>,
): { readonly withKeys: readonly number[]; readonly withEpoch: readonly number[] } {
  const missing = [...journal.unsettledRows()].filter((row) => !inDatastore.has(row));
  const isOfEpoch = (row: number): boolean => epoch.isPresent(journal.fedEpochOf(row));
  const hasArrived = (row: number): boolean => journal.isAdded(row) || traces.has(journal.batchOf(row) ?? '');
  return {
    withKeys: missing.filter((row) => isOfEpoch(row) && hasArrived(row) && !removed.has(row)),
    withEpoch: missing.filter((row) => !isOfEpoch(row)),
  };
}

/** Entries of rows that come back with a batch, called or not. A row that came back without a call is not lost with the datastore. */
export function returnedEntries(
  unfinishedRows: readonly UnfinishedRow[],
  journal: KnownHistory & KnownFeeding,
  epoch: Pick<FeedEpoch, 'isPast'>,
): JournalEntry[] {
  const known = unfinishedRows.filter(({ row }) => !mayHaveUnknownCalls(row, journal, epoch));
  const uncalled = known.filter(({ history }) => history === undefined);
  return [
    ...openEntries(unfinishedRows, journal, epoch),
    ...rangesOf(uncalled).map(([first, last]) => ({ type: 'returned' as const, first, last })),
  ];
}

/**
 * The entries to write before rows are fed again.
 *
 * @param removed rows in batches that an earlier coordinator took back, and perhaps did not live to note
 */
export function recoveryEntries(
  { withKeys, withEpoch }: ReturnType<typeof lostSince>,
  removed: ReadonlySet<number>,
  journal: KnownHistory & KnownFeeding,
  epoch: Pick<FeedEpoch, 'isPast'>,
): JournalEntry[] {
  const lost = [...withKeys, ...withEpoch];
  const known = new Set(lost);
  const others = [...removed].filter((row) => !known.has(row));
  return [
    ...lost.map((row) => possiblyCalledEntry(row, journal)),
    ...returnedEntries(others.map(uncalledRow), journal, epoch),
  ];
}

/** Entries of unfinished rows, with what the journal knows already: a batch of an older copy of the datastore knows less. */
export function openEntries(
  unfinishedRows: readonly UnfinishedRow[],
  journal: KnownHistory & KnownFeeding,
  epoch: Pick<FeedEpoch, 'isPast'>,
): JournalEntry[] {
  return unfinishedRows.flatMap(({ row, history }) => {
    const isLost = mayHaveUnknownCalls(row, journal, epoch);
    if (history === undefined && !isLost) return [];
    const known = withMoreAttempts(history ?? noHistory, journal.history(row));
    if (!isLost) return [openEntry(row, known)];
    return [openEntry(row, withLostResult(known.unclear ? known : perhapsCalled(known)))];
  });
}

/**
 * The entries of results that the journal does not have. The coordinator decodes a result once: the ledger of a batch may have told it before
 * the batch is collected.
 *
 * @throws a fatal error when the journal could not read a line
 */
export function newResults(
  lines: readonly ResultLine[],
  journal: Pick<Journal, 'isFinished'> & KnownHistory & KnownFeeding,
  epoch: Pick<FeedEpoch, 'isPast'>,
  keyed: ReadonlySet<string>,
): readonly ResultEntry[] {
  return lines.flatMap((line) => {
    if (journal.isFinished(line.row)) return [];
    const entry = decodeResult(line);
    if (entry === undefined) throw unreadableResult(line.row);
    return resultEntry(entry, journal, epoch, keyed);
  });
}

/**
 * The result of a doubtful row is unclear, because another worker may have called the row, too. So is one with fewer calls than the journal
 * knows: it is from an older copy of the datastore.
 *
 * @param keyed the operations with an idempotency key: a success tells the outcome of all calls of its row
 */
export function resultEntry(
  entry: ResultEntry,
  journal: KnownHistory & KnownFeeding,
  epoch: Pick<FeedEpoch, 'isPast'>,
  keyed: ReadonlySet<string>,
): ResultEntry {
  const { result } = entry;
  const { row, outcome, operation } = result;
  const attempts = Math.max(result.attempts, journal.history(row)?.attempts ?? 0);
  const tellsAll = outcome === 'succeeded' && keyed.has(operation);
  const isUnclear = attempts > result.attempts || (!tellsAll && mayHaveUnknownCalls(row, journal, epoch));
  // A result that becomes unclear loses its line, so that the result is encoded again.
  return isUnclear ? { type: 'row', result: { ...result, attempts, unclear: true } } : entry;
}

export function withHistory(task: RowTask, journal: KnownHistory): RowTask {
  const history = journal.history(task.row);
  return history === undefined ? task : { ...task, history };
}

/**
 * Entries about unfinished rows.
 *
 * @param inDatastore rows in the datastore, with all that is known about them
 */
export function entriesTheJournalLost(
  { unfinishedRows, doubtfulRows }: LostEntries,
  inDatastore: ReadonlySet<number>,
  journal: Pick<Journal, 'history' | 'isFinished'>,
): JournalEntry[] {
  const isOpen = (row: number): boolean => !inDatastore.has(row) && !journal.isFinished(row);
  const histories = new Map<number, AttemptHistory>();
  for (const { row, history } of unfinishedRows) {
    const { attempts } = histories.get(row) ?? journal.history(row) ?? noHistory;
    if (history !== undefined && history.attempts > attempts && isOpen(row)) histories.set(row, history);
  }
  return [
    ...Array.from(histories, ([row, history]) =>
      openEntry(row, withMoreAttempts(history, journal.history(row))),
    ),
    ...doubtfulRows
      .filter((row) => isOpen(row) && !journal.history(row)?.unclear)
      .map((row) => possiblyCalledEntry(row, journal)),
  ];
}

/** The `fed` entries of a batch. Consecutive rows share an entry. */
export function fedEntries({ id, tasks }: FedBatch, epoch: string | undefined): JournalEntry[] {
  const to = epoch === undefined ? {} : { to: epoch };
  return rangesOf(tasks).map(([first, last]) => ({ type: 'fed', first, last, batch: id, ...to }));
}

export function addedEntries(tasks: readonly RowTask[]): JournalEntry[] {
  return rangesOf(tasks).map(([first, last]) => ({ type: 'added', first, last }));
}

function openEntry(row: number, history: AttemptHistory): JournalEntry {
  return { type: 'open', row, history };
}

/** Notes that a result was lost. Workers end a row that must not be repeated with the code `RESULT_LOST`. */
function withLostResult(history: AttemptHistory): AttemptHistory {
  const { lastMessage: _, ...known } = history;
  return { ...known, lastCode: 'RESULT_LOST' };
}

function withMoreAttempts(history: AttemptHistory, known: AttemptHistory | undefined): AttemptHistory {
  if (known === undefined) return history;
  if (known.attempts > history.attempts) return known;
  return known.unclear && !history.unclear ? { ...history, unclear: true } : history;
}
