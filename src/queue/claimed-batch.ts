import { steadyNow } from '../clock.ts';
import type { RowHistory, RowResult, SavedAnswer } from '../domain.ts';
import { deferred } from '../waiting.ts';
import { Ledger } from './ledger.ts';
import { type LedgerLog, LedgerWriter } from './ledger-writer.ts';
import type { Batch, BatchReturn, Leftover, RetryPolicy, RowTask } from './payload.ts';

/** What a worker decides about a row in hand. */
export type RowVerdict =
  /** The row is done, successfully or not. */
  (
    | { readonly kind: 'finished'; readonly result: RowResult }
    /** The attempt failed and may be repeated after a while; it used up one of the row's attempts. */
    | { readonly kind: 'retry'; readonly history: RowHistory; readonly delayMs: number }
    /**
     * The API asks all workers to slow down: the row goes back and no attempt is used up. No worker calls for `waitMs`
     * milliseconds; 0 leaves that to the governor.
     */
    | { readonly kind: 'throttled'; readonly history: RowHistory; readonly waitMs: number }
    /** The row goes back, for a while if `delayMs` says so, and no attempt is used up. */
    | { readonly kind: 'returned'; readonly history: RowHistory; readonly delayMs?: number }
  ) & { readonly answer?: SavedAnswer };

/** A row in the hands of a worker. */
export interface Claim {
  /** Attempts used up before this one. */
  readonly attemptsUsed: number;
  /** What the run of the row allows; other runs may allow something else. */
  readonly policy: RetryPolicy;
  /** Has the intent of the row written. Resolves with true then, and with false if the row must not be called. */
  intend(): Promise<boolean>;
  /** Whether the row may still be called: its batch is neither wanted back nor lost, and its lock can't have expired. */
  isWanted(): boolean;
}

/** A row that may be started now. */
export interface ReadyRow {
  readonly task: RowTask;
  readonly claim: Claim;
}

export interface ClaimedBatchOptions {
  readonly batch: Batch;
  /** How often the batch was claimed, including this claim. */
  readonly claim: number;
  readonly log: LedgerLog;
  /** Whether its lock certainly belongs to this worker: otherwise another worker may have started, and nothing is called. */
  readonly isLocked: () => boolean;
  /** Called when a row is ready again. */
  readonly onReady: () => void;
  readonly onError: (error: Error) => void;
}

/** A row that must wait longer before it may be called again is handed back: batches must not stay open for it. */
const longestWaitMs = 5_000;
/** A row that could not be called is tried again after this time. */
const returnedMs = 50;

/**
 * A batch in the hands of this worker.
 *
 * ```
 *            begin      verdict: finished
 *   ready ─────────▶ in hand ─────────────▶ done
 *     ▲                │  │
 *     │   a short wait │  │ a long wait, or the batch is handed back
 *     └────────────────┘  └──────────────▶ left over ◀── ready, waiting: the batch is handed back
 * ```
 */
export class ClaimedBatch {
  readonly #options: ClaimedBatchOptions;
  readonly #tasks: ReadonlyMap<number, RowTask>;
  readonly #ledger: Ledger;
  readonly #writer: LedgerWriter;
  /** Rows that may be started, in order, and waiting rows, each with its timer. */
  readonly #ready: Leftover[] = [];
  readonly #waiting = new Map<number, NodeJS.Timeout>();
  /** When leftover rows may be called again, by row. */
  readonly #dueAt = new Map<number, number>();
  #inHand = 0;
  #isHandedBack = false;
  #isLost = false;
  readonly #done = deferred();
  /** Resolves when nothing remains to be done with it here. */
  readonly done = this.#done.promise;

  constructor(options: ClaimedBatchOptions) {
    this.#options = options;
    const { batch, log, claim, onError } = options;
    this.#tasks = new Map(batch.tasks.map((task) => [task.row, task]));
    this.#ledger = new Ledger(batch.tasks);
    this.#writer = new LedgerWriter({
      log,
      ledger: this.#ledger,
      claim,
      onEnd: (end) => {
        this.#isLost = end === 'lost';
        this.handBack();
      },
      onError,
    });
  }

  /** Makes its rows ready, except those that an earlier worker has finished. */
  async begin(): Promise<void> {
    if (this.#options.claim > 1) await this.#writer.begin();
    if (!this.#isHandedBack) this.#ready.push(...this.#ledger.leftovers());
    this.#checkDone();
  }

  get readyRows(): number {
    return this.#ready.length;
  }

  /** Whether another worker has the batch, or the datastore has lost it: its outcome does not count. */
  get isLost(): boolean {
    return this.#isLost;
  }

  /** Takes a row in hand; `settle` is to be called with the verdict. */
  take(): ReadyRow | undefined {
    const next = this.#ready.shift();
    const task = next && this.#tasks.get(next.row);
    if (next === undefined || task === undefined) return undefined;
    this.#inHand += 1;
    const { history } = next;
    return {
      task: history === undefined ? task : { ...task, history },
      claim: new BatchClaim(this, next, this.#options.batch.policy),
    };
  }

  settle({ task, claim }: ReadyRow, verdict: RowVerdict): void {
    this.#inHand -= 1;
    const { row } = task;
    const wasIntended = this.#ledger.isIntended(row);
    if (verdict.answer !== undefined) this.#writer.answered(verdict.answer);
    if (verdict.kind === 'finished') this.#writer.finished(verdict.result);
    else {
      const { history } = verdict;
      const attemptsUsed = claim.attemptsUsed + (verdict.kind === 'retry' ? 1 : 0);
      const known = { row, ...(history.attempts > 0 && { history }), attemptsUsed };
      // Also for a row that was not called in the end: it would be unclear if this worker died.
      if (wasIntended || history.attempts > 0) this.#writer.unfinished(known);
      this.#again({ ...known, delayMs: pauseOf(verdict) });
    }
    this.#checkDone();
  }

  /** Has the intent of a row in hand written. */
  intend(row: number): Promise<boolean> {
    return this.#options.isLocked() ? this.#writer.intend(row) : Promise.resolve(false);
  }

  /** Whether rows in hand may still be called. */
  get isWanted(): boolean {
    return !this.#isHandedBack && this.#options.isLocked();
  }

  /** Starts no more rows; those that are not in hand are leftovers. */
  handBack(): void {
    this.#isHandedBack = true;
    this.#writer.end();
    for (const timer of this.#waiting.values()) clearTimeout(timer);
    this.#waiting.clear();
    this.#ready.length = 0;
    this.#checkDone();
  }

  /** Its outcome, once it is done. Nothing more is written into its ledger. */
  close(): BatchReturn {
    this.#writer.close();
    const answers = this.#ledger.takeAnswers();
    // The other rows of the batch may have taken longer than the wait.
    const delayMs = (row: number) => Math.max(0, (this.#dueAt.get(row) ?? 0) - steadyNow());
    return {
      results: this.#ledger.results(),
      leftovers: this.#ledger
        .leftovers()
        .map((leftover) => ({ ...leftover, delayMs: delayMs(leftover.row) })),
      ...(answers.length > 0 && { answers }),
    };
  }

  #again(leftover: Leftover): void {
    const { row, delayMs } = leftover;
    if (this.#isHandedBack || delayMs > longestWaitMs) this.#dueAt.set(row, steadyNow() + delayMs);
    else if (delayMs <= 0) this.#ready.push(leftover);
    else {
      const timer = setTimeout(() => {
        this.#waiting.delete(row);
        this.#ready.push(leftover);
        this.#options.onReady();
      }, delayMs);
      this.#waiting.set(row, timer);
    }
  }

  #checkDone(): void {
    if (this.#inHand === 0 && this.#ready.length === 0 && this.#waiting.size === 0) this.#done.resolve();
  }
}

/** A class, because closures would be garbage for each row. */
class BatchClaim implements Claim {
  readonly attemptsUsed: number;
  readonly policy: RetryPolicy;
  readonly #batch: ClaimedBatch;
  readonly #row: number;

  constructor(batch: ClaimedBatch, { row, attemptsUsed }: Leftover, policy: RetryPolicy) {
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

/** How long an unfinished row waits before it may be called again. */
function pauseOf(verdict: Exclude<RowVerdict, { kind: 'finished' }>): number {
  return verdict.kind === 'throttled' ? verdict.waitMs : (verdict.delayMs ?? returnedMs);
}
