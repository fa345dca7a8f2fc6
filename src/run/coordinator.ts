import { setTimeout as pause } from 'node:timers/promises';
import type { Datastore } from '../datastore/datastore.ts';
import type { RowResult } from '../domain.ts';
import type { Journal, JournalEntry } from '../journal/journal.ts';
import { openBatchQueue } from '../queue/batch-queue.ts';
import type { CollectedBatch } from '../queue/collected-batch.ts';
import type { RowTask } from '../queue/payload.ts';
import type { RowQueue } from '../queue/row-queue.ts';
import type { RetryPolicy } from '../queue/verdict.ts';
import type { FeedWindow } from './feed-window.ts';

/**
 * The coordinator of a run: feeds its rows as batches, never more than the window holds, and collects the results of
 * finished batches into the journal. It begins with what an earlier coordinator of the run left in the datastore.
 *
 * ```
 * feeding ──(all rows fed)──▶ draining ──(all batches collected)──▶ done
 *    └───────────┬───────────────┘
 *                ├─(stop)──────────────▶ stopped    ─┬─ withdraw: nothing of the run is left in the datastore
 *                ├─(too many failures)─▶ exceeded    │  or close: another coordinator goes on with it
 *                ├─(rows vanished)─────▶ robbed     ─┘
 *                └─(datastore, disk)───▶ rejected
 * ```
 */
export type CoordinatorEnd = 'done' | 'stopped' | 'exceeded' | 'robbed';

export interface CoordinatorOptions {
  readonly runId: string;
  readonly datastore: Datastore;
  /** Resolves with the reason when the run can't go on here. */
  readonly lost: Promise<Error>;
  readonly rows: RowQueue;
  readonly journal: Journal;
  /** The rows without a result, in order. */
  readonly tasks: AsyncIterable<RowTask>;
  readonly window: FeedWindow;
  readonly policy: RetryPolicy;
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
  /**
   * After the end: takes back what nobody is calling and waits for what somebody is. Afterwards the datastore holds
   * nothing of the run and the journal alone tells what is left to do. Killed at any point, it can be done again.
   *
   * @returns whether it is through; not when the signal aborted before the last call had ended.
   */
  withdraw(signal: AbortSignal): Promise<boolean>;
  close(): Promise<void>;
}

/** How often the datastore is asked what other processes have finished, and what can be taken back. */
const refreshMs = 250;

export async function startCoordinator(options: CoordinatorOptions): Promise<Coordinator> {
  const { journal, window, datastore } = options;
  const ending = new AbortController();
  const ended = new Promise<void>((resolve) => {
    ending.signal.addEventListener('abort', () => resolve(), { once: true });
  });
  let reason: Exclude<CoordinatorEnd, 'done'> | undefined;
  let failure: Error | undefined;

  const endBecause = (why: Exclude<CoordinatorEnd, 'done'>): void => {
    reason ??= why;
    ending.abort();
    window.wake();
  };
  const fail = (error: Error): void => {
    failure ??= error;
    ending.abort();
    window.wake();
  };

  const batches = await openBatchQueue(datastore, {
    runId: options.runId,
    rows: options.rows,
    policy: options.policy,
    collect: (batch, missing) =>
      collect(batch, missing).catch((error: Error) => {
        fail(error);
        throw error;
      }),
    async onVanished(rows, size) {
      await journal.append(rows.filter((row) => !journal.isFinished(row)).map(suspected));
      window.collected(size.rows, size.bytes);
      endBecause('robbed');
    },
    onError: options.onError,
  });
  let incarnation = await datastore.incarnation();
  for (const { rows, bytes } of batches.adopted.batches) window.fed(rows, bytes);
  await journal.append(suspectLostRows());
  void options.lost.then(fail);

  /**
   * Rows that were about to be fed, but are neither in the datastore nor in the journal. If the datastore has lost
   * nothing since, they never got there; else they may have been called.
   */
  function suspectLostRows(): readonly JournalEntry[] {
    return [...journal.unsettledRows()]
      .filter((row) => !batches.adopted.rows.has(row))
      .filter((row) => incarnation === undefined || journal.fedTo(row) !== incarnation)
      .map(suspected);
  }

  /** How often such a row has been called is lost with it: once, most likely. */
  function suspected(row: number): JournalEntry {
    const before = journal.history(row) ?? { attempts: 0, unprocessed: 0 };
    return { type: 'open', row, history: { ...before, attempts: before.attempts + 1, unclear: true } };
  }

  async function collect(batch: CollectedBatch, missing: readonly number[]): Promise<void> {
    const results = [...batch.results, ...batch.abandoned.map(abandonedResult)];
    const entries: JournalEntry[] = results.map((result) => ({ type: 'row', result }));
    const fresh = await journal.append([...entries, ...missing.map(suspected)]);
    if (missing.length > 0) endBecause('robbed');
    await options.onCollected(fresh);
    window.collected(batch.rows, batch.bytes);
    const { maxFailures } = options;
    if (maxFailures !== undefined && journal.outcomeCounts.failed > maxFailures) endBecause('exceeded');
  }

  async function feed(): Promise<CoordinatorEnd> {
    let tasks: RowTask[] = [];
    let bytes = 0;
    const addBatch = async (): Promise<void> => {
      await until(() => window.hasRoom);
      const first = tasks[0];
      const last = tasks.at(-1);
      if (ending.signal.aborted || first === undefined || last === undefined) return;
      // Before the rows can be called: if all goes dark now, the journal knows which rows to suspect.
      const to = incarnation === undefined ? {} : { to: incarnation };
      await journal.append([{ type: 'fed', first: first.row, last: last.row, ...to }]);
      window.fed(tasks.length, bytes);
      await orEnding(batches.add(tasks, bytes, ending.signal));
      tasks = [];
      bytes = 0;
    };

    for await (const task of options.tasks) {
      if (ending.signal.aborted) break;
      if (batches.adopted.rows.has(task.row)) continue;
      tasks.push(task);
      bytes += task.body.length;
      if (window.isFull(tasks.length, bytes)) await addBatch();
    }
    await addBatch();
    await until(() => window.isEmpty);
    return reason ?? 'done';
  }

  /** Waits until the condition holds or the run is ending. */
  async function until(condition: () => boolean): Promise<void> {
    while (!ending.signal.aborted && !condition()) await window.changed();
    if (failure !== undefined) throw failure;
  }

  /** Waits for the datastore, unless the run is ending: it may be away for long. */
  async function orEnding(work: Promise<void>): Promise<void> {
    await Promise.race([work, ended]);
    // Whatever becomes of it now shows when the run is gone on with.
    work.catch(() => {});
  }

  /** Rows of a shared datastore are finished by processes that can't tell this one. */
  const observer = datastore.exclusive ? undefined : setInterval(() => void observe(), refreshMs);
  let observing = false;
  let troubled = false;
  async function observe(): Promise<void> {
    if (observing) return;
    observing = true;
    try {
      await batches.refresh();
      window.observed(batches.openRows);
      if (troubled && datastore.trouble === undefined) incarnation = await datastore.incarnation();
      troubled = datastore.trouble !== undefined;
    } catch (error) {
      options.onError(error as Error);
    } finally {
      observing = false;
    }
  }

  async function withdrawAll(signal: AbortSignal): Promise<boolean> {
    if (!datastore.exclusive && !window.isEmpty) await options.rows.watchStalled();
    while (!window.isEmpty && !signal.aborted && failure === undefined) {
      await batches.takeBack(async (rows) => {
        await journal.append(rows.map(({ row, history }) => ({ type: 'open', row, history })));
      });
      if (!window.isEmpty) await Promise.race([window.changed(), pause(refreshMs)]);
    }
    if (failure !== undefined) throw failure;
    if (!window.isEmpty) return false;
    await journal.append([{ type: 'settled' }]);
    await batches.forget();
    return true;
  }

  return {
    end: feed(),
    stop: () => endBecause('stopped'),
    async withdraw(signal) {
      const aborted = new Promise<false>((resolve) => {
        if (signal.aborted) resolve(false);
        signal.addEventListener('abort', () => resolve(false), { once: true });
      });
      const through = withdrawAll(signal);
      through.catch(() => {});
      // A datastore that is away would be waited for without end.
      return Promise.race([through, aborted]);
    },
    async close() {
      clearInterval(observer);
      await batches.close();
    },
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
