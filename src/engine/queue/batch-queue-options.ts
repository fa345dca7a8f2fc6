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
  /** The priority of the run, which may change. */
  readonly priority: () => Priority;
  /**
   * Takes the outcome of a batch. The datastore forgets the batch when this resolves, and delivers it again when this rejects.
   */
  readonly collect: (batch: CollectedBatch) => Promise<void>;
  /** The size of the journal that is safe on disk, in bytes. */
  readonly journalEnd: () => number;
  /**
   * Takes what collected batches say that the journal has lost since, in a power failure. Called before anything is collected:
   * what is added to the journal would hide what it has lost.
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
