import type { RowResult } from '../domain/row-result.ts';
import type { OutcomeCounts } from '../domain/terms.ts';
import type { Operation } from '../engine/operation/operation.ts';
import { factsOfRecord } from '../engine/run/facts/make-facts.ts';
import { readRowsWithResults } from '../engine/run/plan/rows-with-results.ts';
import { isFinalState } from '../engine/run/record/ending.ts';
import { actualState, type RunRecord } from '../engine/run/record/record.ts';
import { openJournalReader, progressOf } from '../engine/run/record/run-journal.ts';
import { type BatchPlace, openBatchPlace } from './place.ts';

/** A row with its result. The operation types `columns`: the report columns that this operation fills, as text. */
export type BatchRow<Each extends Operation = Operation> = Omit<RowResult, 'operation' | 'columns'> & {
  /** Identifier of the subject of the row; empty where the row has no subject. */
  readonly subject: string;
} & (OfOperation<Each> | { readonly operation: ''; readonly columns?: undefined });

type OfOperation<Each extends Operation> =
  Each extends Operation<infer Name, infer Column>
    ? { readonly operation: Name; readonly columns?: Readonly<Record<Column, string>> }
    : never;

/**
 * The rows of a run with their results, in the order of the manifest, even during the run. Memory: some thousand rows.
 *
 * @throws CqbatchError (`usage`, `RUN_UNKNOWN`) when the folder has no run of that id
 */
export async function* results<Each extends Operation>(
  place: BatchPlace<Each> & { readonly run: string },
): AsyncGenerator<BatchRow<Each>> {
  const { store } = openBatchPlace(place);
  const record = await store.load(place.run);
  const journal = await openJournalReader(store, record);
  try {
    const { lines } = await readRowsWithResults(store, record, journal);
    for await (const part of lines) {
      for (const { row, result } of part) {
        const subject = row.kind === 'invalid' ? '' : row.subject;
        yield { ...result, subject } as BatchRow<Each>;
      }
    }
  } finally {
    await journal.close();
  }
}

/** A run that is neither completed nor cancelled. */
export interface UnfinishedBatch {
  /** The id of the run. */
  readonly run: string;
  readonly state: RunRecord['state'];
  /** The manifest, as it was named to the run. */
  readonly manifest: string;
  readonly baseUrl: string;
  readonly rows: number;
  /** The number of rows with a result. */
  readonly done: number;
  readonly outcomes: OutcomeCounts;
}

/** The unfinished runs of a folder, the oldest first. */
export async function openRuns(place: BatchPlace): Promise<readonly UnfinishedBatch[]> {
  const { store } = openBatchPlace(place);
  const open: UnfinishedBatch[] = [];
  for (const record of await store.list()) {
    if (isFinalState(actualState(record))) continue;
    const facts = await factsOfRecord(store, record, undefined, await progressOf(store, record));
    const { id: run, state, manifest, baseUrl, rows, done, counts: outcomes } = facts;
    open.push({ run, state: state as RunRecord['state'], manifest, baseUrl, rows, done, outcomes });
  }
  return open;
}
