import { setTimeout as pause } from 'node:timers/promises';
import type { Datastore } from '../datastore/datastore.ts';
import type { RowResult } from '../domain.ts';
import type { Journal, JournalEntry } from '../journal/journal.ts';
import { type CollectedBatch, openBatchQueue } from '../queue/batch-queue.ts';
import { bytesOf, rangesOf } from '../queue/open-batch.ts';
import type { Leftover, RetryPolicy, RowTask } from '../queue/payload.ts';
import type { RowQueue } from '../queue/row-queue.ts';
import { after } from '../waiting.ts';
import { Feed } from './feed.ts';
import type { FeedWindow } from './feed-window.ts';

/**
 * The coordinator of a run: feeds its rows as batches, never more than the window holds, collects what came of them into
 * the journal, and feeds again what was handed back. It begins with what an earlier coordinator of the run left in the
 * datastore.
 *
 * ```
 * feeding ──(all rows fed)──▶ draining ──(all batches collected)──▶ done
 *    └───────────┬───────────────┘
 *                ├─(stop)──────────────▶ stopped    ─┬─ withdraw: nothing of the run is left in the datastore
 *                ├─(too many failures)─▶ exceeded    │  or close: another coordinator goes on with it
 *                ├─(rows vanished)─────▶ rows-lost   │
 *                ├─(rows came back that only the manifest knows)─▶ again ─┘
 *                └─(datastore, disk)───▶ rejected
 * ```
 */
export type CoordinatorEnd = 'done' | 'stopped' | 'exceeded' | 'rows-lost' | 'again';

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
  /** Called with new results once they are safe in the journal. */
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

/** How often the datastore is asked what workers have finished. */
const refreshMs = 500;
/** How often it is asked what can be taken back. */
const takeBackMs = 250;
/** Rows that are fed with one write to the journal. */
const rowsAtOnce = 1_000;

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
    collect: (batch) => failing(collect(batch)),
    onResults: (results) => failing(keep(results)),
    async onVanished(rows, size) {
      await journal.append(rows.filter((row) => !journal.isFinished(row)).map(suspected));
      window.collected(size.rows, size.bytes);
      endBecause('rows-lost');
    },
    onError: options.onError,
  });
  const feed = new Feed(options.tasks, batches.adopted.rows);
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

  /** What the journal does not take ends the run. */
  function failing(work: Promise<void>): Promise<void> {
    return work.catch((error: Error) => {
      fail(error);
      throw error;
    });
  }

  async function keep(results: readonly RowResult[], others: readonly JournalEntry[] = []): Promise<void> {
    const entries: JournalEntry[] = results.map((result) => ({ type: 'row', result }));
    await options.onCollected(await journal.append([...entries, ...others]));
    const { maxFailures } = options;
    if (maxFailures !== undefined && journal.outcomeCounts.failed > maxFailures) endBecause('exceeded');
  }

  async function collect({ results, leftovers, missing, rows, bytes }: CollectedBatch): Promise<void> {
    await keep(results, [...leftovers.flatMap(opened), ...missing.map(suspected)]);
    for (const { task, delayMs } of leftovers) {
      if (task === undefined) endBecause('again');
      else feed.again(task, delayMs);
    }
    if (missing.length > 0) endBecause('rows-lost');
    window.collected(rows, bytes);
  }

  async function feedAll(): Promise<CoordinatorEnd> {
    while (!ending.signal.aborted && !(feed.isDone && window.isEmpty)) {
      const batches = window.hasRoom ? await nextBatches() : [];
      if (batches.length > 0) await add(batches);
      // A row that was handed back may be due before anything else happens.
      else if (!ending.signal.aborted) await Promise.race([window.changed(), dueAgain()]);
    }
    await feed.close();
    if (failure !== undefined) throw failure;
    return reason ?? 'done';
  }

  /** As many batches as there is room for, all of them with one line of the journal. */
  async function nextBatches(): Promise<RowTask[][]> {
    const batches: RowTask[][] = [];
    let rows = 0;
    do {
      const batch: RowTask[] = [];
      let bytes = 0;
      while (!window.isFull(batch.length, bytes)) {
        const task = await feed.next();
        if (task === undefined) break;
        batch.push(task);
        bytes += task.body.length;
      }
      if (batch.length === 0) break;
      batches.push(batch);
      rows += batch.length;
    } while (rows < Math.min(rowsAtOnce, window.room));
    return batches;
  }

  async function add(added: readonly RowTask[][]): Promise<void> {
    // Before the rows can be called: if all goes dark now, the journal knows which rows to suspect.
    await journal.append(added.flatMap((tasks) => fed(tasks, incarnation)));
    for (const tasks of added) {
      window.fed(tasks.length, bytesOf(tasks));
      if (!ending.signal.aborted) await orEnding(batches.add(tasks, ending.signal));
    }
  }

  function dueAgain(): Promise<void> {
    const { dueInMs } = feed;
    return dueInMs === undefined ? new Promise(() => {}) : after(dueInMs);
  }

  /** Waits for the datastore, unless the run is ending: it may be away for long. */
  async function orEnding(work: Promise<void>): Promise<void> {
    await Promise.race([work, ended]);
    // Whatever becomes of it now shows when the run is gone on with.
    work.catch(() => {});
  }

  const observer = setInterval(() => void observe(), refreshMs);
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
      await batches.takeBack(({ results, leftovers }) => keep(results, leftovers.flatMap(opened)));
      if (!window.isEmpty) await Promise.race([window.changed(), pause(takeBackMs)]);
    }
    if (failure !== undefined) throw failure;
    if (!window.isEmpty) return false;
    await journal.append([{ type: 'settled' }]);
    await batches.forget();
    return true;
  }

  return {
    end: feedAll(),
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

/** What the attempts of a row did that is not finished; nothing when there were none. */
function opened({ row, history }: Leftover): JournalEntry[] {
  return history === undefined ? [] : [{ type: 'open', row, history }];
}

/** Rows that are next to each other are one entry. */
function fed(tasks: readonly RowTask[], incarnation: string | undefined): JournalEntry[] {
  const to = incarnation === undefined ? {} : { to: incarnation };
  return rangesOf(tasks).map(([first, last]) => ({ type: 'fed', first, last, ...to }));
}
