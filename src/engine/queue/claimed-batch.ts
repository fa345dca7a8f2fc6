import { steadyNow } from '../../base/async/clock.ts';
import { deferred } from '../../base/async/waiting.ts';
import { noHistory, perhapsCalled } from '../../domain/attempts.ts';
import { showsDamage } from '../../domain/codes.ts';
import type { AttemptHistory, RowResult } from '../../domain/row-result.ts';
import type { SavedAnswer } from '../../domain/terms.ts';
import { encodeResult } from '../journal/line.ts';
import { Ledger } from './ledger/ledger.ts';
import { type LedgerLog, LedgerWriter } from './ledger/ledger-writer.ts';
import type { Batch, BatchReturn, RowCall, RunPolicy, UnfinishedRow } from './payload.ts';

export type RowVerdict = (
  | { readonly kind: 'finished'; readonly result: RowResult }
  | { readonly kind: 'retry'; readonly history: AttemptHistory; readonly delayMs: number }
  /** `throttled`: the API asks to slow down. Uses no attempt. Workers pause for `waitMs`; 0 leaves the pace to the governor. */
  | { readonly kind: 'throttled'; readonly history: AttemptHistory; readonly waitMs: number }
  /** `returned`: the row goes back without using an attempt, and is due after `delayMs`. */
  | { readonly kind: 'returned'; readonly history: AttemptHistory; readonly delayMs?: number }
) & { readonly answer?: SavedAnswer };

export interface Claim {
  readonly attemptsUsed: number;
  readonly policy: RunPolicy;
  /** Announces the call of the row. Resolves with false if the row must not be called. */
  intend(): Promise<boolean>;
  /** Whether the row may be called: false if the batch is withdrawn or lost, or its lock may have expired. */
  isWanted(): boolean;
}

export interface ReadyRow {
  readonly task: RowCall;
  readonly claim: Claim;
}

export interface ClaimedBatchOptions {
  readonly batch: Batch<RowCall>;
  /** The number of this claim of the batch, from 1. */
  readonly claim: number;
  readonly hasEntries?: boolean;
  readonly log: LedgerLog;
  /** Whether the worker certainly has the lock. Otherwise another worker may have started, and nothing may be called. */
  readonly isLocked: () => boolean;
  readonly onReady: () => void;
  readonly onError: (error: Error) => void;
}

/** Rows due later are handed back, so that their batch can complete. */
const longestWaitMs = 5_000;
/** A throttled row is due again after at most this time. Workers keep the rest of a longer wait, because a user may end that wait. */
const longestThrottledMs = 2 * longestWaitMs;
const usualReturnDelayMs = 50;

/**
 * The rows of a batch that this worker has claimed.
 *
 * ```
 *            begin      verdict: finished
 *   ready ─────────▶ in hand ─────────────▶ done
 *     ▲                │  │
 *     │   a short wait │  │ a long wait, or the batch is handed back
 *     └────────────────┘  └──────────────▶ unfinished ◀── ready, waiting: the batch is handed back
 * ```
 */
export class ClaimedBatch {
  readonly #options: ClaimedBatchOptions;
  readonly #tasks: ReadonlyMap<number, RowCall>;
  readonly #ledger: Ledger;
  readonly #writer: LedgerWriter;
  readonly #ready: UnfinishedRow[] = [];
  readonly #waiting = new Map<number, NodeJS.Timeout>();
  readonly #dueAt = new Map<number, number>();
  #rowsInHand = 0;
  #isHandedBack = false;
  #isLost = false;
  readonly #done = deferred();
  readonly done = this.#done.promise;

  constructor(options: ClaimedBatchOptions) {
    this.#options = options;
    const { batch, log, claim, hasEntries = false, onError } = options;
    this.#tasks = new Map(batch.tasks.map((task) => [task.row, task]));
    this.#ledger = new Ledger(batch.tasks);
    this.#writer = new LedgerWriter({
      log,
      ledger: this.#ledger,
      claim,
      hasEntries,
      onEnd: (end) => {
        this.#isLost = end === 'lost';
        this.handBack();
      },
      onError,
    });
  }

  async begin(): Promise<void> {
    if (this.#options.claim > 1) await this.#writer.begin();
    if (!this.#isHandedBack) this.#ready.push(...this.#ledger.unfinishedRows());
    this.#checkDone();
  }

  get readyRows(): number {
    return this.#ready.length;
  }

  get epoch(): string | undefined {
    return this.#options.batch.epoch;
  }

  /** Whether the outcome of this worker does not count: another worker has the batch, or the datastore has lost it. */
  get isLost(): boolean {
    return this.#isLost;
  }

  /** Takes the next ready row in hand. Call `settle` or `giveUp` for the row afterwards. */
  take(): ReadyRow | undefined {
    const next = this.#ready.shift();
    const task = next && this.#tasks.get(next.row);
    if (next === undefined || task === undefined) return undefined;
    this.#rowsInHand += 1;
    const { history } = next;
    return {
      task: history === undefined ? task : { ...task, history },
      claim: new BatchClaim(this, next, this.#options.batch.policy),
    };
  }

  settle({ task, claim }: ReadyRow, verdict: RowVerdict): void {
    this.#rowsInHand -= 1;
    const { row } = task;
    const wasIntended = this.#ledger.isIntended(row);
    if (verdict.answer !== undefined) this.#writer.addAnswer(verdict.answer);
    if (verdict.kind === 'finished') {
      this.#writer.addResult(encodeResult(verdict.result));
      // After an answer for another entry, the batch goes to the coordinator at once, which then halts the run for all workers.
      if (showsDamage(verdict.result.code)) this.handBack();
    } else {
      const { history } = verdict;
      const attemptsUsed = claim.attemptsUsed + (verdict.kind === 'retry' ? 1 : 0);
      const known = { row, ...(history.attempts > 0 && { history }), attemptsUsed };
      // Note an announced row even if it was not called: otherwise the row would be unclear if this worker died.
      if (wasIntended || history.attempts > 0) this.#writer.addProgress(known);
      this.#retryWhenDue({ ...known, delayMs: delayAfter(verdict) });
    }
    this.#checkDone();
  }

  /** Settles a row whose processing has thrown, perhaps after its call. */
  giveUp(ready: ReadyRow): void {
    const { row, history = noHistory } = ready.task;
    const isDoubtful = this.#ledger.isIntended(row);
    this.settle(ready, { kind: 'returned', history: isDoubtful ? perhapsCalled(history) : history });
  }

  intend(row: number): Promise<boolean> {
    return this.#options.isLocked() ? this.#writer.intend(row) : Promise.resolve(false);
  }

  get isWanted(): boolean {
    return !this.#isHandedBack && this.#options.isLocked();
  }

  handBack(): void {
    this.#isHandedBack = true;
    this.#writer.end();
    for (const timer of this.#waiting.values()) clearTimeout(timer);
    this.#waiting.clear();
    this.#ready.length = 0;
    this.#checkDone();
  }

  close(): BatchReturn {
    this.#writer.close();
    const answers = this.#ledger.takeAnswers();
    const delayMs = (row: number) => Math.max(0, (this.#dueAt.get(row) ?? 0) - steadyNow());
    return {
      results: this.#ledger.results(),
      unfinishedRows: this.#ledger
        .unfinishedRows()
        .map((unfinishedRow) => ({ ...unfinishedRow, delayMs: delayMs(unfinishedRow.row) })),
      ...(answers.length > 0 && { answers }),
    };
  }

  #retryWhenDue(unfinishedRow: UnfinishedRow): void {
    const { row, delayMs } = unfinishedRow;
    if (this.#isHandedBack || delayMs > longestWaitMs) this.#dueAt.set(row, steadyNow() + delayMs);
    else if (delayMs <= 0) this.#ready.push(unfinishedRow);
    else {
      const timer = setTimeout(() => {
        this.#waiting.delete(row);
        this.#ready.push(unfinishedRow);
        this.#options.onReady();
      }, delayMs);
      this.#waiting.set(row, timer);
    }
  }

  #checkDone(): void {
    if (this.#rowsInHand === 0 && this.#ready.length === 0 && this.#waiting.size === 0) this.#done.resolve();
  }
}

/** A class, because closures for each row would burden the garbage collector. */
class BatchClaim implements Claim {
  readonly attemptsUsed: number;
  readonly policy: RunPolicy;
  readonly #batch: ClaimedBatch;
  readonly #row: number;

  constructor(batch: ClaimedBatch, { row, attemptsUsed }: UnfinishedRow, policy: RunPolicy) {
    this.#batch = batch;
    this.#row = row;
    this.attemptsUsed = attemptsUsed;
    this.policy = policy;
  }

  intend(): Promise<boolean> {
    return this.#batch.intend(this.#row);
  }

  isWanted(): boolean {
    return this.#batch.isWanted;
  }
}

function delayAfter(verdict: Exclude<RowVerdict, { kind: 'finished' }>): number {
  if (verdict.kind === 'throttled') return Math.min(verdict.waitMs, longestThrottledMs);
  return verdict.delayMs ?? usualReturnDelayMs;
}
