import type { BatchPlace } from './place.ts';
import type { BatchPlan, PlanBatchOptions } from './plan-batch.ts';
import type { BatchRow, UnfinishedBatch } from './results.ts';
import type { BatchResult, RunBatchOptions } from './run-batch.ts';

/*
 * What the library does with batches. The engine is loaded when one of these is called: a program that only calls the API does
 * not need it.
 */

/**
 * Reads and checks every row of a manifest. Nothing is sent.
 *
 * @throws CqbatchError (`usage`) when the manifest can't be read, its operation can't be told, or a setting can't be understood
 */
export async function planBatch(options: PlanBatchOptions): Promise<BatchPlan> {
  return (await import('./plan-batch.ts')).checkBatch(options);
}

/**
 * Takes a manifest to its end: checks every row, calls the API, and writes the report. It keeps every promise of the command: a
 * process that is killed leaves a run that can be gone on with, in which no row is lost and none is called twice unmarked.
 *
 * @throws CqbatchError `usage` when rows may not be called (the code is that of `BatchPlan.refusal`) or a setting can't be understood:
 *   nothing was sent. `busy` when another process works on the run. `fatal` when the datastore or the disk fails.
 */
export async function runBatch(options: RunBatchOptions): Promise<BatchResult> {
  return (await import('./run-batch.ts')).executeBatch(options);
}

/**
 * The rows of a run with what became of them, in the order of the manifest, also while it is going. Memory: a part of them.
 *
 * @throws CqbatchError (`usage`, `RUN_UNKNOWN`) when there is no run of that id in the folder
 */
export async function* results(place: BatchPlace & { readonly run: string }): AsyncGenerator<BatchRow> {
  yield* (await import('./results.ts')).readResults(place);
}

/** The runs of a folder that are neither complete nor given up, the oldest first: they are going, or can be gone on with. */
export async function openRuns(place: BatchPlace): Promise<readonly UnfinishedBatch[]> {
  return (await import('./results.ts')).listOpenRuns(place);
}
