import type { Priority, SavedAnswer } from '../../domain/terms.ts';
import type { ResultLine } from '../journal/line.ts';
import type { LostEntries } from './lost-entries.ts';
import type { BatchSize } from './open-batch.ts';
import type { RowTask, RunPolicy, UnfinishedRow } from './payload.ts';
import type { RowQueue } from './row-queue.ts';

export interface UnfinishedTask extends UnfinishedRow {
  /** The row with its line. Absent when the row must be read again from its file. */
  readonly task?: RowTask | undefined;
}

export interface CollectedBatch extends BatchSize {
  readonly results: readonly ResultLine[];
  /** Rows without a result, which must be fed again. */
  readonly unfinishedRows: readonly UnfinishedTask[];
  /** Rows that came back: the unfinished ones, and the rows of a batch that the coordinator took back. */
  readonly returnedRows: readonly UnfinishedRow[];
  /** Rows that the datastore has lost: they may have been called. */
  readonly missingRows: readonly number[];
}

export interface BatchQueueOptions {
  readonly runId: string;
  readonly rows: RowQueue;
  readonly policy: RunPolicy;
  /** Ids of batches that the journal names for unsettled rows: the datastore may hold some that none of its lists names. */
  readonly unsettled: ReadonlySet<string>;
  readonly priority: () => Priority;
  /** Takes the results of a batch. The datastore forgets the batch when the promise resolves, and delivers it again when it rejects. */
  readonly collect: (batch: CollectedBatch) => Promise<void>;
  /** Bytes of the journal that are safe on disk. */
  readonly journalEnd: () => number;
  /**
   * Takes what the journal lost in a power failure. Called before anything is collected, because new entries would hide what is missing.
   *
   * @param inDatastore rows of batches that are not collected
   */
  readonly restore: (lost: LostEntries, inDatastore: ReadonlySet<number>) => Promise<void>;
  /** Gets new results of open batches. `collect` gets the same results later. */
  readonly onResults: (results: readonly ResultLine[]) => Promise<void>;
  /** Saves answers of rows. Called before the results that follow from these answers. */
  readonly onAnswers: (answers: readonly SavedAnswer[]) => Promise<void>;
  readonly onError: (error: Error) => void;
  /** How often batches are compared with all lists of the datastore. Default: 30 s. */
  readonly compareEveryMs?: number;
}
