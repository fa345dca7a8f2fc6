import type { Attribution } from '../../actor.ts';
import type { RowResult } from '../../domain.ts';
import type { JournalEntry } from '../../journal/line.ts';
import { bytesOf } from '../../queue/batch-flow.ts';
import { type BatchQueue, type CollectedBatch, openBatchQueue } from '../../queue/batch-queue.ts';
import type { RowTask } from '../../queue/payload.ts';
import { type Repeated, repeat } from '../../repeat.ts';
import { onAbort, orAborted, orAfter } from '../../waiting.ts';
import type { RunEnding } from '../record/ending.ts';
import type { FailureHalt } from '../record/guards.ts';
import type { OpenRun } from '../record/open-run.ts';
import { Feed } from './feed.ts';
import type { FeedWindow } from './feed-window.ts';
import { fed, opened, suspected } from './journal-entries.ts';
import { keepsOrder, RowOrder } from './row-order.ts';

/** Why nothing is fed any more, for good or for a while. */
export type Leaving =
  | RunEnding
  /** Too much has failed. */
  | { readonly state: 'halted'; readonly halt: FailureHalt }
  | ({ readonly state: 'paused' } & Attribution)
  /** The datastore has lost rows, or rows came back that only the manifest knows. */
  | { readonly state: 'again'; readonly hasLostRows: boolean };

export interface CoordinatorOptions {
  /** The rows without a result, in order. */
  readonly tasks: AsyncIterable<RowTask>;
  readonly window: FeedWindow;
  /** Called with new results once they are safe in the journal. */
  readonly onCollected: (results: readonly RowResult[]) => Promise<void>;
  /** Errors of the datastore that may pass. */
  readonly onError: (error: Error) => void;
}

type State =
  | { readonly mode: 'feeding' }
  | { readonly mode: 'ended'; readonly reason: Leaving }
  | { readonly mode: 'failed'; readonly error: Error };

/** How often the datastore is asked what workers have finished. */
const refreshMs = 500;
/** Like `refreshMs`, for batches with a row whose result another row waits for: manifests may edit an entry a dozen times. */
const awaitedMs = 100;
/** How often it is asked what can be drained. */
const drainMs = 250;
/** Rows that are fed with one write to the journal. */
const rowsAtOnce = 1_000;

/**
 * The coordinator of a run: feeds its rows as batches, never more than the window holds, collects what came of them into
 * the journal, and feeds again what was handed back. It begins by recovering what an earlier coordinator of the run left
 * in the datastore.
 *
 * ```
 * feeding ──(all is collected, or a reason to stop)──▶ ended ──(drain)──▶ nothing of the run is in the datastore
 *    └──────────────┬────────────────────────────────────┘
 *                   └──(datastore, journal or lock lost; disk full)──▶ failed
 * ```
 *
 * - **feeding**: rows go into the datastore while `run` goes on and the window has room; batches that are done are collected.
 * - **ended**: nothing is fed; the first reason counts. Collecting goes on until `close`. Without `drain` another
 *   coordinator can go on with what the datastore holds.
 * - **failed**: what failed cannot be mended here; `run` and `drain` throw it.
 */
export class Coordinator {
  readonly #run: OpenRun;
  readonly #options: CoordinatorOptions;
  readonly #ending = new AbortController();
  readonly #forgetLoss: () => void;
  #batches!: BatchQueue;
  #feed!: Feed;
  /** Where rows that act on the same subject are to be called in order. */
  #order: RowOrder | undefined;
  readonly #repeated: Repeated[] = [];
  /** Of the datastore to which rows are fed. */
  #epoch: string | undefined;
  #wasAway = false;
  #state: State = { mode: 'feeding' };

  constructor(run: OpenRun, options: CoordinatorOptions) {
    this.#run = run;
    this.#options = options;
    this.#forgetLoss = onAbort(run.lost, () => this.#fail(run.lost.reason));
  }

  /**
   * Feeds and collects until the end.
   *
   * @returns the first reason that it was given, or that there was
   * @throws when the datastore, the disk or the right to work on the run is gone
   */
  async run(): Promise<Leaving> {
    const { window } = this.#options;
    while (this.isFeeding) {
      const changed = window.changed();
      const batches = window.hasRoom ? await this.#nextBatches() : [];
      if (batches.length > 0) await this.#add(batches);
      else if (this.#feed.isDone && window.isEmpty) this.end({ state: 'completed' });
      // A row that was handed back may be due before anything else happens.
      else await orAfter(changed, this.#feed.dueInMs);
    }
    await this.#feed.close();
    return this.#checked();
  }

  /**
   * After the end: takes out of the datastore what no worker is calling, and waits for what one is calling. Afterwards the
   * journal alone tells what is left to do. Killed at any point, it can be done again.
   *
   * @returns whether it is through; not when the signal aborted before the last call had ended.
   */
  async drain(signal: AbortSignal): Promise<boolean> {
    // A datastore that is unreachable would be waited for without end.
    return (await orAborted(this.#drainAll(signal), signal)) ?? false;
  }

  async close(): Promise<void> {
    this.#forgetLoss();
    for (const repeated of this.#repeated) void repeated.stop();
    await this.#batches?.close();
  }

  get isFeeding(): boolean {
    return this.#state.mode === 'feeding';
  }

  /** Feeds no more. The first reason counts. */
  end(reason: Leaving): void {
    if (this.isFeeding) this.#enter({ mode: 'ended', reason });
  }

  #fail(error: Error): void {
    if (this.#state.mode !== 'failed') this.#enter({ mode: 'failed', error });
  }

  #enter(state: State): void {
    this.#state = state;
    this.#ending.abort();
    this.#options.window.wake();
  }

  /** Why nothing is fed any more. @throws what failed, if anything has */
  #checked(): Leaving {
    if (this.#state.mode === 'failed') throw this.#state.error;
    return this.#state.mode === 'ended' ? this.#state.reason : { state: 'interrupted' };
  }

  /** Takes over what an earlier coordinator of the run left in the datastore. */
  async recover(): Promise<void> {
    const { datastore, journal } = this.#run;
    const { tasks, window, onError } = this.#options;
    const { id, options } = this.#run.record;
    this.#batches = await openBatchQueue(datastore, {
      runId: id,
      rows: this.#run.rows,
      policy: {
        attempts: options.attempts,
        backoffMs: options.backoffMs,
        ...(options.saveResponses && { saveAnswers: true }),
      },
      collect: (batch) => this.#failing(this.#collect(batch)),
      onResults: (results) => this.#failing(this.#keep(results)),
      onAnswers: (answers) => this.#failing(this.#run.answers.write(answers)),
      onVanished: (missing, size) =>
        this.#failing(this.#collect({ ...size, results: [], leftovers: [], missing })),
      onError,
    });
    const { recovered } = this.#batches;
    this.#repeated.push(repeat(() => this.#observe(), { everyMs: refreshMs, onError }));
    if (keepsOrder(this.#run.record)) this.#keepOrder(new RowOrder());
    this.#feed = new Feed({
      tasks,
      skip: recovered.rows,
      isFinished: (row) => journal.isFinished(row),
      order: this.#order,
    });
    for (const { rows, bytes } of recovered.batches) window.fed(rows, bytes);
    const epoch = await datastore.epoch();
    this.#epoch = epoch;
    // Rows that were about to be fed, but are neither in the datastore nor in the journal. If the datastore has lost
    // nothing since, they never got there; else they may have been called.
    const lost = [...journal.unsettledRows()]
      .filter((row) => !recovered.rows.has(row))
      .filter((row) => epoch === undefined || journal.fedTo(row) !== epoch);
    await journal.append(lost.map((row) => suspected(row, journal)));
  }

  /** Results that rows wait for are looked for more often. */
  #keepOrder(order: RowOrder): void {
    const { onError } = this.#options;
    this.#order = order;
    const look = () => this.#batches.lookAfter((row) => order.isAwaited(row));
    this.#repeated.push(repeat(() => (order.isEmpty ? undefined : look()), { everyMs: awaitedMs, onError }));
  }

  /** What the journal does not take ends the run. */
  #failing(work: Promise<void>): Promise<void> {
    return work.catch((error: Error) => {
      this.#fail(error);
      throw error;
    });
  }

  async #keep(results: readonly RowResult[], others: readonly JournalEntry[] = []): Promise<void> {
    const entries: JournalEntry[] = results.map((result) => ({ type: 'row', result }));
    const fresh = await this.#run.journal.append([...entries, ...others]);
    const freed = fresh.filter(({ row }) => this.#order?.finished(row));
    if (freed.length > 0) this.#options.window.wake();
    await this.#options.onCollected(fresh);
  }

  async #collect({ results, leftovers, missing, rows, bytes }: CollectedBatch): Promise<void> {
    const suspects = missing.map((row) => suspected(row, this.#run.journal));
    await this.#keep(results, [...leftovers.flatMap(opened), ...suspects]);
    for (const { task, delayMs } of leftovers) {
      if (task === undefined) this.end({ state: 'again', hasLostRows: false });
      else if (!this.#run.journal.isFinished(task.row)) this.#feed.again(task, delayMs);
    }
    if (missing.length > 0) this.end({ state: 'again', hasLostRows: true });
    this.#options.window.collected(rows, bytes);
  }

  /** As many batches as there is room for, all of them with one line of the journal. */
  async #nextBatches(): Promise<RowTask[][]> {
    const { window } = this.#options;
    const batches: RowTask[][] = [];
    let rows = 0;
    do {
      const batch: RowTask[] = [];
      let bytes = 0;
      while (!window.isFull(batch.length, bytes)) {
        const task = await this.#feed.next();
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

  async #add(batches: readonly RowTask[][]): Promise<void> {
    // Before the rows can be called: if all goes dark now, the journal knows which rows to suspect.
    const into = this.#epoch;
    await this.#run.journal.append(batches.flatMap((tasks) => fed(tasks, into)));
    for (const batch of batches) {
      if (!this.isFeeding) return;
      // Another copy of a batch, from an older datastore, may have told results of rows that were handed back meanwhile.
      const tasks = batch.filter(({ row }) => !this.#run.journal.isFinished(row));
      if (tasks.length === 0) continue;
      this.#options.window.fed(tasks.length, bytesOf(tasks));
      const { signal } = this.#ending;
      // The datastore may be away for long. Whatever becomes of it then shows when the run is gone on with.
      await orAborted(this.#batches.add(tasks, signal, into), signal);
    }
  }

  async #observe(): Promise<void> {
    await this.#batches.refresh();
    this.#options.window.observed(this.#batches.openRows);
    const isAway = this.#run.datastore.trouble !== undefined;
    if (this.#wasAway && !isAway) this.#epoch = await this.#run.datastore.epoch();
    this.#wasAway = isAway;
  }

  async #drainAll(signal: AbortSignal): Promise<boolean> {
    const { datastore, rows, journal } = this.#run;
    const { window } = this.#options;
    if (!datastore.exclusive && !window.isEmpty) await rows.watchStalled();
    while (!window.isEmpty && !signal.aborted && this.#state.mode !== 'failed') {
      const changed = window.changed();
      // No worker is left: a dead process held a batch, or the own worker claimed one as it stopped, and never heard of it.
      if (datastore.exclusive) await rows.releaseClaims();
      await this.#batches.drain(({ results, leftovers }) => this.#keep(results, leftovers.flatMap(opened)));
      if (!window.isEmpty) await orAfter(changed, drainMs);
    }
    this.#checked();
    if (!window.isEmpty) return false;
    await journal.append([{ type: 'settled' }]);
    // A look that is under way would have a queue that is about to go collected from again.
    await Promise.all(this.#repeated.map((repeated) => repeated.stop()));
    await this.#batches.forget();
    return true;
  }
}
