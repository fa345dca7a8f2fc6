import { type RepeatedTask, repeat } from '../../../base/async/repeat.ts';
import { onAbort, unlessAborted, withTimeout } from '../../../base/async/waiting.ts';
import type { RowResult } from '../../../domain/row-result.ts';
import type { Priority } from '../../../domain/terms.ts';
import { encodeResult, type JournalEntry, type ResultLine } from '../../journal/line.ts';
import { newBatchId } from '../../queue/batch-flow.ts';
import { type BatchQueue, openBatchQueue } from '../../queue/batch-queue.ts';
import type { CollectedBatch } from '../../queue/batch-queue-options.ts';
import { bytesOf, type RowTask } from '../../queue/payload.ts';
import { errorOfLostKeys } from '../../queue/stranded-batch.ts';
import type { RunEnding, RunPause } from '../record/ending.ts';
import type { GuardHalt } from '../record/guards/guards.ts';
import type { OpenRun } from '../record/open-run.ts';
import { Feed } from './feed.ts';
import { FeedEpoch, waitForUnawareWorkers } from './feed-epoch.ts';
import type { FeedWindow } from './feed-window.ts';
import {
  addedEntries,
  entriesTheJournalLost,
  fedEntries,
  lostSince,
  mayHaveUnknownCalls,
  newResults,
  openEntries,
  possiblyCalledEntry,
  recoveryEntries,
  returnedEntries,
  withHistory,
} from './journal-entries.ts';
import { keepsOrder, RowOrder } from './row-order.ts';

/** Why feeding has stopped, for good or for a while. */
export type StopReason =
  | RunEnding
  | GuardHalt
  | RunPause
  /** The work must start again: the datastore has lost rows, or some that were handed back must be read from their file. */
  | { readonly state: 'restart'; readonly hasLostRows: boolean };

export interface CoordinatorOptions {
  /** Results of rows that must not be called any more. Gets the rows in the datastore. Default: none. */
  readonly resultsOfUncalledRows?: (inDatastore: ReadonlySet<number>) => AsyncIterable<readonly RowResult[]>;
  /** The rows without a result, in order. */
  readonly tasks: AsyncIterable<Iterable<RowTask>>;
  readonly window: FeedWindow;
  readonly priority: () => Priority;
  /** Called when the journal has new results. */
  readonly onCollected: (results: readonly RowResult[]) => Promise<void>;
  readonly onError: (error: Error) => void;
}

type CoordinatorState =
  | { readonly mode: 'feeding' }
  | { readonly mode: 'ended'; readonly reason: StopReason }
  | { readonly mode: 'failed'; readonly error: Error };

const refreshMs = 500;
/** How often a batch is read with a row that another row waits for. A manifest may edit an entry a dozen times. */
const readAwaitedEveryMs = 100;
const drainEveryMs = 250;

/**
 * Feeds the rows of a run as batches, collects their results into the journal, and feeds rows again that were handed back.
 *
 * ```
 * feeding ──(all collected, or a reason to stop)──▶ ended ──(drain)──▶ the datastore holds nothing of the run
 *    └─────────────┬─────────────────────────────────┘
 *                  └──(datastore, journal or lock lost; disk full)──▶ failed
 * ```
 *
 * - **feeding**: rows go into the datastore while the window has room; finished batches are collected.
 * - **ended**: collecting continues until `close`. Without `drain`, another coordinator can take over what the datastore holds.
 *   Rows that the datastore has lost, or may have lost because it is in another epoch, end the feeding: they are drained and fed again.
 * - **failed**: `run` and `drain` throw the error.
 */
export class Coordinator {
  readonly #run: OpenRun;
  readonly #options: CoordinatorOptions;
  readonly #ending = new AbortController();
  readonly #forgetLoss: () => void;
  readonly #epoch: FeedEpoch;
  readonly #operationsWithKey: ReadonlySet<string>;
  #batches!: BatchQueue;
  #feed!: Feed;
  /** Set if rows with the same subject must be called in order. */
  #order: RowOrder | undefined;
  readonly #repeatedWork: RepeatedTask[] = [];
  #state: CoordinatorState = { mode: 'feeding' };

  /** @throws when the datastore or the disk fails; then nothing stays open */
  static async open(run: OpenRun, options: CoordinatorOptions): Promise<Coordinator> {
    const coordinator = new Coordinator(run, options);
    await coordinator.#recover().catch(async (error: unknown) => {
      await coordinator.close();
      throw error;
    });
    return coordinator;
  }

  private constructor(run: OpenRun, options: CoordinatorOptions) {
    this.#run = run;
    this.#options = options;
    this.#forgetLoss = onAbort(run.lost, () => this.#fail(run.lost.reason));
    this.#epoch = new FeedEpoch(run.datastore, () => this.#restartAfterLoss());
    this.#operationsWithKey = new Set(
      run.store.operations.flatMap(({ name, key }) => (key === undefined ? [] : [name])),
    );
  }

  /** @throws when the datastore, the disk or the lock on the run is lost */
  async run(): Promise<StopReason> {
    const { window } = this.#options;
    while (this.isFeeding) {
      const changed = window.nextChange();
      const batches = window.hasRoom ? await this.#feed.nextBatches(window) : [];
      if (batches.length > 0) await this.#add(batches);
      else if (this.#feed.isDone && window.isEmpty) this.end({ state: 'completed' });
      // Wake also for an unfinished row whose wait ends.
      else await withTimeout(changed, this.#feed.dueInMs);
    }
    await this.#feed.close();
    return this.#stopReasonOrThrow();
  }

  /**
   * Empties the datastore after the end: removes the rows that no worker is calling, and waits for the other rows. Then the journal alone
   * says which rows remain. Call this again after a kill.
   *
   * @returns false when the signal aborted first
   */
  async drain(signal: AbortSignal): Promise<boolean> {
    // An unreachable datastore would block forever.
    return (await unlessAborted(this.#drainAll(signal), signal)) ?? false;
  }

  async close(): Promise<void> {
    this.#forgetLoss();
    this.#epoch.close();
    for (const repeated of this.#repeatedWork) void repeated.stop();
    await this.#batches?.close();
  }

  get isFeeding(): boolean {
    return this.#state.mode === 'feeding';
  }

  /** Ends the feeding. Only the first reason counts. */
  end(reason: StopReason): void {
    if (this.isFeeding) this.#enter({ mode: 'ended', reason });
  }

  /** Ends the feeding, because the datastore has lost rows or may have lost rows. */
  #restartAfterLoss(): void {
    this.#epoch.noteLoss();
    this.end({ state: 'restart', hasLostRows: true });
  }

  #fail(error: Error): void {
    if (this.#state.mode !== 'failed') this.#enter({ mode: 'failed', error });
  }

  #enter(state: CoordinatorState): void {
    this.#state = state;
    this.#ending.abort();
    this.#options.window.wake();
  }

  #stopReasonOrThrow(): StopReason {
    if (this.#state.mode === 'failed') throw this.#state.error;
    return this.#state.mode === 'ended' ? this.#state.reason : { state: 'interrupted' };
  }

  async #recover(): Promise<void> {
    const { datastore, journal, record } = this.#run;
    const { resultsOfUncalledRows, tasks, window, priority, onError } = this.#options;
    await this.#epoch.read();
    this.#batches = await openBatchQueue(datastore, {
      runId: record.id,
      rows: this.#run.rows,
      policy: this.#run.policy,
      unsettled: journal.unsettledBatches(),
      priority,
      collect: (batch) => this.#orFail(this.#collect(batch)),
      journalEnd: () => journal.end,
      restore: (lost, known) => this.#keep(lost.results, entriesTheJournalLost(lost, known, journal)),
      onResults: (results) => this.#orFail(this.#keep(results)),
      onAnswers: (answers) => this.#orFail(this.#run.answers.write(answers)),
      onError,
    });
    const { recovered } = this.#batches;
    this.#repeatedWork.push(repeat(() => this.#observe(), { everyMs: refreshMs, onError }));
    if (keepsOrder(record)) this.#keepOrder(new RowOrder());
    const isFinished = (row: number) => journal.isFinished(row);
    this.#feed = new Feed({ tasks, rowsInDatastore: recovered.inDatastore, isFinished, order: this.#order });
    for (const { rows, bytes } of recovered.batches) window.countFed(rows, bytes);
    // Read the epoch again, because the datastore may have been emptied meanwhile.
    await this.#epoch.read();
    const lost = lostSince(this.#epoch, recovered, journal);
    const isUnknown = (row: number) => mayHaveUnknownCalls(row, journal, this.#epoch);
    if ([...journal.unsettledRows()].some(isUnknown) || recovered.hasOtherEpoch) this.#restartAfterLoss();
    if (lost.withKeys.length > 0) onError(await errorOfLostKeys(datastore));
    await journal.append(recoveryEntries(lost, recovered.removed, journal, this.#epoch));
    const uncalledParts = resultsOfUncalledRows?.(recovered.inDatastore) ?? [];
    for await (const part of uncalledParts) await this.#keep(part.map(encodeResult));
  }

  #keepOrder(order: RowOrder): void {
    const { onError } = this.#options;
    this.#order = order;
    const read = () => this.#batches.readAwaited((row) => order.isAwaited(row));
    this.#repeatedWork.push(
      repeat(() => (order.isEmpty ? undefined : read()), { everyMs: readAwaitedEveryMs, onError }),
    );
  }

  /** A failed write to the journal ends the run. */
  #orFail(work: Promise<void>): Promise<void> {
    return work.catch((error: Error) => {
      this.#fail(error);
      throw error;
    });
  }

  async #keep(returned: readonly ResultLine[], entries: readonly JournalEntry[] = []): Promise<void> {
    const { journal } = this.#run;
    const ended = newResults(returned, journal, this.#epoch, this.#operationsWithKey);
    const results = await journal.append([...ended, ...entries]);
    const freed = results.filter(({ row }) => this.#order?.noteFinishedRow(row));
    if (freed.length > 0) this.#options.window.wake();
    await this.#options.onCollected(results);
  }

  async #collect(batch: CollectedBatch): Promise<void> {
    const { results, unfinishedRows, returnedRows, missingRows } = batch;
    const { journal } = this.#run;
    const suspects = missingRows.map((row) => possiblyCalledEntry(row, journal));
    await this.#keep(results, [...returnedEntries(returnedRows, journal, this.#epoch), ...suspects]);
    for (const { task, delayMs } of unfinishedRows) {
      if (task === undefined) this.end({ state: 'restart', hasLostRows: false });
      else if (!journal.isFinished(task.row)) this.#feed.feedAgain(withHistory(task, journal), delayMs);
    }
    if (missingRows.length > 0) this.#restartAfterLoss();
    this.#options.window.countCollected(batch.rows, batch.bytes);
  }

  async #add(rowsOfBatches: readonly RowTask[][]): Promise<void> {
    const batches = rowsOfBatches.map((tasks) => ({ id: newBatchId(this.#run.record.id), tasks }));
    // The journal notes rows before they can be called: after a power cut, it knows which rows may have been called.
    const { name: epoch } = this.#epoch;
    await this.#run.journal.append(batches.flatMap((batch) => fedEntries(batch, epoch)));
    const noted: Promise<unknown>[] = [];
    for (const { id, tasks: fed } of batches) {
      if (!this.isFeeding) break;
      // An older copy of the datastore may have returned results for rows that were handed back.
      const tasks = fed.filter(({ row }) => !this.#run.journal.isFinished(row));
      if (tasks.length === 0) continue;
      this.#options.window.countFed(tasks.length, bytesOf(...tasks));
      const { signal } = this.#ending;
      // If the datastore stays away, the next process finds out whether the batch was added.
      if (!(await unlessAborted(this.#batches.add({ id, tasks }, signal, epoch), signal))) continue;
      // If the datastore loses the batch, the next process knows that its rows may have been called.
      noted.push(this.#run.journal.append(addedEntries(tasks)).catch((error) => this.#fail(error)));
    }
    await Promise.all(noted);
  }

  async #observe(): Promise<void> {
    await this.#batches.refresh();
    this.#options.window.observeOpenRows(this.#batches.openRows);
  }

  /** Whether the datastore holds no rows, and no worker begins a call. */
  get #isAtRest(): boolean {
    return this.#options.window.isEmpty && !this.#epoch.mayBeCalled;
  }

  async #drainAll(signal: AbortSignal): Promise<boolean> {
    const { datastore, rows, journal } = this.#run;
    const { window } = this.#options;
    if (!datastore.exclusive && !window.isEmpty) await rows.watchStalled(this.#options.onError);
    while (!this.#isAtRest && !signal.aborted && this.#state.mode !== 'failed') {
      const changed = window.nextChange();
      // A dead process may hold a batch, or this process claimed one while stopping and missed the reply.
      if (datastore.exclusive) await rows.releaseClaims();
      await this.#batches.drain(({ results, unfinishedRows }) =>
        this.#keep(results, openEntries(unfinishedRows, journal, this.#epoch)),
      );
      if (this.#epoch.mayBeCalled) this.#options.onError(waitForUnawareWorkers());
      if (!this.#isAtRest) await withTimeout(changed, drainEveryMs);
    }
    this.#stopReasonOrThrow();
    if (!this.#isAtRest) return false;
    await journal.append([{ type: 'settled' }]);
    // A pending refresh would resume the queue that `forget` removes.
    await Promise.all(this.#repeatedWork.map((repeated) => repeated.stop()));
    await this.#batches.forget();
    return true;
  }
}
