import type { OutcomeCounts, RowResult } from '../domain.ts';
import { readRunLines } from '../run/plan/run-lines.ts';
import { actualState, type RunRecord } from '../run/record/record.ts';
import { openJournalReader, progressOf } from '../run/record/run-journal.ts';
import { type BatchPlace, openBatchPlace } from './place.ts';

/** A row with what became of it. */
export interface BatchRow extends RowResult {
  /** Identifier of what the row acts on; empty where the row does not tell. */
  readonly subject: string;
}

export async function* readResults(place: BatchPlace & { readonly run: string }): AsyncGenerator<BatchRow> {
  const { store } = openBatchPlace(place);
  const record = await store.load(place.run);
  const journal = await openJournalReader(store, record);
  try {
    const { lines, prepare } = await readRunLines(store, record, journal);
    for await (const part of lines) {
      for (const { row, result } of part) {
        const prepared = prepare(row);
        yield { ...result, subject: prepared.kind === 'callable' ? prepared.subject : '' };
      }
    }
  } finally {
    await journal.close();
  }
}

/** A run that has rows left to be called. */
export interface UnfinishedBatch {
  readonly run: string;
  readonly state: RunRecord['state'];
  /** What the user called it. */
  readonly manifest: string;
  readonly baseUrl: string;
  readonly rows: number;
  /** Rows with a result. */
  readonly done: number;
  readonly outcomes: OutcomeCounts;
}

export async function listOpenRuns(place: BatchPlace): Promise<readonly UnfinishedBatch[]> {
  const { store } = openBatchPlace(place);
  const open: UnfinishedBatch[] = [];
  for (const record of await store.list()) {
    const state = actualState(record);
    if (state === 'completed' || state === 'cancelled') continue;
    const { done, outcomes } = await progressOf(store, record);
    const { id: run, manifest, plan, options } = record;
    open.push({
      run,
      state,
      manifest: manifest.name,
      baseUrl: options.baseUrl,
      rows: plan.rows,
      done,
      outcomes,
    });
  }
  return open;
}
