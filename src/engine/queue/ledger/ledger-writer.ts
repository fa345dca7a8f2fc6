import { repeat } from '../../../base/async/repeat.ts';
import { after } from '../../../base/async/waiting.ts';
import type { SavedAnswer } from '../../../domain/terms.ts';
import type { ResultLine } from '../../journal/line.ts';
import { isMissing, lockMs } from '../bullmq.ts';
import { type AttemptsOfRow, decodeLedgerEntry, encodeLedgerEntry, type LedgerEntry } from '../payload.ts';
import type { Ledger } from './ledger.ts';

export interface LedgerLog {
  append(text: string): Promise<number>;
  /** @param first the index of the first entry to read, from 0 */
  read(first: number): Promise<readonly string[]>;
}

export interface LedgerWriterOptions {
  readonly log: LedgerLog;
  readonly ledger: Ledger;
  /** The number of this worker's claim of the batch, from 1. */
  readonly claim: number;
  /** Whether another worker has written into the ledger. Default: false. */
  readonly hasEntries?: boolean;
  /** Called once when no more rows may be called: the batch is withdrawn or its ledger lost entries, or another worker has it. */
  readonly onEnd: (end: 'withdrawn' | 'lost') => void;
  /** Gets errors of writes and reads, which are tried again. */
  readonly onError: (error: Error) => void;
}

const mostIntentsInEntry = 25;
/** Results are written after `writeAfterMs`, at this number, or with the next intents. */
const writeAfterMs = 10;
const mostUnwrittenResults = 16;
/** After a write this long, the lock may have expired: a lock is renewed every quarter of its lifetime. */
export const outdatedAfterMs = lockMs / 2;
const retryAfterMs = 200;
const readEveryMs = 1_000;

/**
 * Writes a worker's progress into the ledger of its batch. What arrives during one write goes into the next.
 *
 * An entry at an unexpected index shows that another process has written: its entries are read before anything is called.
 */
export class LedgerWriter {
  readonly #options: LedgerWriterOptions;
  #length = 0;
  /** Whether the next entry is the first of a worker. */
  #isFirst: boolean;
  readonly #unwrittenIntents: { readonly row: number; readonly resolve: (recorded: boolean) => void }[] = [];
  readonly #unwrittenResults: ResultLine[] = [];
  readonly #unwrittenProgress: AttemptsOfRow[] = [];
  readonly #unwrittenAnswers: SavedAnswer[] = [];
  #isBusy = false;
  #writeTimer: NodeJS.Timeout | undefined;
  readonly #reads = repeat(() => this.#readIfIdle(), { everyMs: readEveryMs });
  #ended = false;
  #closed = false;

  constructor(options: LedgerWriterOptions) {
    this.#options = options;
    this.#isFirst = options.hasEntries !== true;
  }

  /** Takes the batch over: afterwards the ledger has all calls of the former worker. */
  async begin(): Promise<void> {
    const { claim, ledger, hasEntries } = this.#options;
    const length = await this.#append({ type: 'begin', claim, ...this.#firstMark });
    if (length !== undefined) await this.#readTo(length);
    if (hasEntries && !ledger.hasBeginning) {
      ledger.doubtAll();
      // After a loss, only the journal knows which rows have a result: the coordinator feeds the other rows again.
      this.#endBecause('withdrawn');
    }
    if (ledger.claim > claim) this.#endBecause('lost');
  }

  /** @returns false if the row must not be called */
  intend(row: number): Promise<boolean> {
    if (this.#ended) return Promise.resolve(false);
    return new Promise((resolve) => {
      this.#unwrittenIntents.push({ row, resolve });
      this.#write();
    });
  }

  addResult(result: ResultLine): void {
    this.#options.ledger.finish(result);
    this.#unwrittenResults.push(result);
    this.#writeSoon();
  }

  addProgress(row: AttemptsOfRow): void {
    this.#options.ledger.keepProgress(row);
    this.#unwrittenProgress.push(row);
    this.#writeSoon();
  }

  addAnswer(answer: SavedAnswer): void {
    this.#options.ledger.addAnswer(answer);
    this.#unwrittenAnswers.push(answer);
  }

  end(): void {
    this.#ended = true;
    for (const { resolve } of this.#unwrittenIntents.splice(0)) resolve(false);
  }

  close(): void {
    this.end();
    this.#closed = true;
    clearTimeout(this.#writeTimer);
    void this.#reads.stop();
  }

  get #firstMark(): { readonly isFirst?: true } {
    return this.#isFirst ? { isFirst: true } : {};
  }

  #writeSoon(): void {
    if (this.#unwrittenResults.length + this.#unwrittenProgress.length >= mostUnwrittenResults) this.#write();
    else
      this.#writeTimer ??= setTimeout(() => {
        this.#writeTimer = undefined;
        this.#write();
      }, writeAfterMs);
  }

  #write(): void {
    if (this.#isBusy) return;
    this.#isBusy = true;
    void this.#writeAll();
  }

  #readIfIdle(): void {
    if (this.#ended || this.#isBusy) return;
    this.#isBusy = true;
    void this.#read()
      .catch(this.#options.onError)
      .then(() => this.#writeAll());
  }

  async #writeAll(): Promise<void> {
    for (;;) {
      const intents = this.#unwrittenIntents.splice(0, mostIntentsInEntry);
      const results = this.#unwrittenResults.splice(0);
      const unfinished = this.#unwrittenProgress.splice(0);
      const answers = this.#unwrittenAnswers.splice(0);
      if (this.#closed || intents.length + results.length + unfinished.length === 0) {
        // Reset before returning. In `finally`, an intent that arrives in between would never be written.
        this.#isBusy = false;
        return;
      }
      const entry: LedgerEntry = {
        type: 'work',
        claim: this.#options.claim,
        ...this.#firstMark,
        ...(intents.length > 0 && { intents: intents.map(({ row }) => row) }),
        ...(results.length > 0 && { results }),
        ...(unfinished.length > 0 && { unfinished }),
        ...(answers.length > 0 && { answers }),
      };
      let state = await this.#writeEntry(entry);
      // Writing an entry twice does no harm.
      while (state === 'outdated' && intents.length > 0) state = await this.#writeEntry(entry);
      for (const { row, resolve } of intents) {
        if (state === 'current') this.#options.ledger.intend(row);
        resolve(state === 'current');
      }
    }
  }

  /**
   * Appends an entry, after reading those of other processes.
   *
   * @returns `outdated` when the lock may have expired meanwhile, so that another worker may have started or completed the batch
   */
  async #writeEntry(entry: LedgerEntry): Promise<'current' | 'outdated' | 'ended'> {
    const sentAt = performance.now();
    const length = await this.#append(entry);
    // The ledger's key was deleted. This worker still knows all entries, and hands the batch back with their outcome.
    if (length !== undefined && length <= this.#length) this.#endBecause('withdrawn');
    else if (length !== undefined && length !== this.#length + 1) await this.#readTo(length);
    else if (length !== undefined) this.#length = length;
    if (length === undefined || this.#ended) return 'ended';
    return performance.now() - sentAt > outdatedAfterMs ? 'outdated' : 'current';
  }

  /** @returns undefined when the ledger no longer exists */
  async #append(entry: LedgerEntry): Promise<number | undefined> {
    const text = encodeLedgerEntry(entry);
    while (!this.#closed) {
      try {
        const length = await this.#options.log.append(text);
        this.#isFirst = false;
        return length;
      } catch (error) {
        if (isMissing(error)) {
          this.#endBecause('lost');
          return undefined;
        }
        this.#options.onError(error as Error);
        await after(retryAfterMs);
      }
    }
    return undefined;
  }

  /** Reads even for a batch that is handed back: its return value must have everything in the ledger. */
  async #readTo(length: number): Promise<void> {
    while (!this.#closed && this.#length < length) {
      try {
        const lastLength = this.#length;
        await this.#read();
        if (this.#length > lastLength) continue;
        this.#endBecause('lost');
        return;
      } catch (error) {
        this.#options.onError(error as Error);
        await after(retryAfterMs);
      }
    }
  }

  async #read(): Promise<void> {
    const { log, ledger, claim } = this.#options;
    const first = this.#length;
    const texts = await log.read(first);
    // `#readTo` and `#readIfIdle` may read the same entries.
    const unread = texts.slice(this.#length - first);
    this.#length += unread.length;
    for (const text of unread) {
      const entry = decodeLedgerEntry(text);
      // Entries of an earlier claim are void once this claim has started.
      if (entry.type !== 'work' || entry.claim !== claim) ledger.apply(entry);
    }
    if (ledger.claim > claim) this.#endBecause('lost');
    else if (ledger.isWithdrawn) this.#endBecause('withdrawn');
  }

  #endBecause(end: 'withdrawn' | 'lost'): void {
    if (this.#ended) return;
    this.end();
    this.#options.onEnd(end);
  }
}
