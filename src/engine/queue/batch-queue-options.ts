import type { Priority, RowResult, SavedAnswer } from '../../domain/terms.ts';
import type { LostEntries } from './lost-entries.ts';
import type { BatchSize } from './open-batch.ts';
import type { Leftover, RowTask, RunPolicy } from './payload.ts';
import type { RollCall } from './roll-call.ts';
import type { RowQueue } from './row-queue.ts';

/** A row that was handed back. */
export interface HandedBack extends Leftover {
  /** Absent when only the manifest contains the row. */
  readonly task?: RowTask | undefined;
}

/** The outcome of a batch. */
export interface CollectedBatch extends BatchSize {
  readonly results: readonly RowResult[];
  readonly leftovers: readonly HandedBack[];
  /** Rows that were not handed back and have no result or leftover in the datastore. */
  readonly missing: readonly number[];
}

export interface BatchQueueOptions {
  readonly runId: string;
  readonly rows: RowQueue;
  readonly policy: RunPolicy;
  /** Finds out what workers know of batches that were added in another epoch. */
  readonly rollCall: RollCall;
  /** The present priority of the run. */
  readonly priority: () => Priority;
  /** Takes the outcome of a batch. The datastore forgets the batch when the promise resolves, and delivers it again when it rejects. */
  readonly collect: (batch: CollectedBatch) => Promise<void>;
  /** The size of the journal that is safe on disk, in bytes. */
  readonly journalEnd: () => number;
  /**
   * Takes what the journal has lost in a power failure, according to collected batches. Called before anything is collected: new entries
   * would hide what is missing.
   *
   * @param held the rows of batches that are not collected
   */
  readonly restore: (lost: LostEntries, held: ReadonlySet<number>) => Promise<void>;
  /** Called with results of open batches, and again when these batches are collected. */
  readonly onResults: (results: readonly RowResult[]) => Promise<void>;
  /** Called with answers of the API before the results that follow from them, if the policy saves answers. */
  readonly onAnswers: (answers: readonly SavedAnswer[]) => Promise<void>;
  /** Called when the datastore has lost a batch. Its rows were fed, and may have been called. */
  readonly onVanished: (rows: readonly number[], size: BatchSize) => Promise<void>;
  /** Called for each error of the datastore; the queue continues. */
  readonly onError: (error: Error) => void;
}
