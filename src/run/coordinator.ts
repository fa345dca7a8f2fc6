import type { Datastore } from '../datastore/datastore.ts';
import type { RowResult } from '../domain.ts';
import type { Journal } from '../journal/journal.ts';
import { type CollectedBatch, openBatchQueue } from '../queue/batch-queue.ts';
import type { RowTask } from '../queue/payload.ts';
import type { FeedWindow } from './feed-window.ts';

/**
 * The coordinator of a run: feeds its rows as batches, never more than the window holds, and collects the results of
 * finished batches into the journal.
 *
 * ```
 * feeding ──(all rows fed)──▶ draining ──(all batches collected)──▶ done
 *    └───────────┬───────────────┘
 *                ├─(stop)──────────────▶ stopped    what is in the datastore stays there: settle it afterwards
 *                ├─(too many failures)─▶ exceeded
 *                └─(datastore, disk)───▶ rejected
 * ```
 */
export type CoordinatorEnd = 'done' | 'stopped' | 'exceeded';

export interface CoordinatorOptions {
  readonly runId: string;
  readonly datastore: Datastore;
  readonly rowsQueue: string;
  readonly journal: Journal;
  readonly tasks: AsyncIterable<RowTask>;
  readonly window: FeedWindow;
  /** Attempts of each row. */
  readonly attempts: number;
  /** The run ends when more rows than that have failed. */
  readonly maxFailures?: number;
  /** Called with the rows of a batch once they are safe in the journal. */
  readonly onCollected: (results: readonly RowResult[]) => Promise<void>;
  /** Errors of the datastore that may pass. */
  readonly onError: (error: Error) => void;
}

export interface Coordinator {
  readonly end: Promise<CoordinatorEnd>;
  /** Feeds no more; collecting goes on until `close`. */
  stop(): void;
  close(): Promise<void>;
}

export function startCoordinator(options: CoordinatorOptions): Coordinator {
  const { journal, window, datastore } = options;
  let ending: Exclude<CoordinatorEnd, 'done'> | undefined;
  let failure: Error | undefined;

  const endBecause = (reason: Exclude<CoordinatorEnd, 'done'>): void => {
    ending ??= reason;
    window.wake();
  };
  const fail = (error: Error): void => {
    failure ??= error;
    window.wake();
  };

  const batches = openBatchQueue(datastore, {
    runId: options.runId,
    rowsQueue: options.rowsQueue,
    attempts: options.attempts,
    collect: (batch) =>
      collect(batch).catch((error: Error) => {
        fail(error);
        throw error;
      }),
    onError: options.onError,
  });
  void datastore.lost.then(fail);

  async function collect(batch: CollectedBatch): Promise<void> {
    const results = [...batch.results, ...batch.abandoned.map(abandonedResult)];
    const fresh = await journal.append(results.map((result) => ({ type: 'row', result })));
    await options.onCollected(fresh);
    window.collected(batch.rows, batch.bytes);
    const { maxFailures } = options;
    if (maxFailures !== undefined && journal.outcomeCounts.failed > maxFailures) endBecause('exceeded');
  }

  async function feed(): Promise<CoordinatorEnd> {
    let tasks: RowTask[] = [];
    let bytes = 0;
    const addBatch = async (): Promise<void> => {
      await settled(() => window.hasRoom);
      const first = tasks[0];
      const last = tasks.at(-1);
      if (ending !== undefined || first === undefined || last === undefined) return;
      // Before the rows can be called: if all goes dark now, the journal knows which rows to suspect.
      await journal.append([{ type: 'fed', first: first.row, last: last.row }]);
      window.fed(tasks.length, bytes);
      await batches.add(tasks, bytes);
      tasks = [];
      bytes = 0;
    };

    for await (const task of options.tasks) {
      tasks.push(task);
      bytes += task.body.length;
      if (window.isFull(tasks.length, bytes)) await addBatch();
      if (ending !== undefined) return ending;
    }
    await addBatch();
    await settled(() => window.isEmpty);
    return ending ?? 'done';
  }

  /** Waits until the condition holds or the run is ending. */
  async function settled(condition: () => boolean): Promise<void> {
    while (failure === undefined && ending === undefined && !condition()) await window.changed();
    if (failure !== undefined) throw failure;
  }

  return {
    end: feed(),
    stop: () => endBecause('stopped'),
    close: () => batches.close(),
  };
}

function abandonedResult({ row, reason }: CollectedBatch['abandoned'][number]): RowResult {
  return {
    row,
    operation: '',
    outcome: 'failed',
    code: 'ABANDONED',
    message: `given up by the queue: ${reason}`,
    attempts: 0,
    unclear: true,
  };
}
