import type { RowResult, SavedAnswer } from '../domain.ts';
import { repeat } from '../repeat.ts';
import { after } from '../waiting.ts';
import { isMissing, lockMs } from './bullmq.ts';
import type { Ledger } from './ledger.ts';
import { decodeLedgerEntry, encodeLedgerEntry, type LedgerEntry, type Unfinished } from './payload.ts';

/** The ledger as the datastore keeps it: texts in the order in which they were appended. */
export interface LedgerLog {
  /** @returns how many there are then. */
  append(text: string): Promise<number>;
  /** @param first index of the first one, from 0 */
  read(first: number): Promise<readonly string[]>;
}

export interface LedgerWriterOptions {
  readonly log: LedgerLog;
  /** What the ledger says; it is kept up to date. */
  readonly ledger: Ledger;
  /** The claim of this worker, from 1. */
  readonly claim: number;
  /** Called once when nothing of the batch may be called any more: it is wanted back, or another worker has it. */
  readonly onEnd: (end: 'withdrawn' | 'lost') => void;
  /** Errors of the datastore, one by one; what failed is tried again. */
  readonly onError: (error: Error) => void;
}

/** The most intents of an entry. */
const mostIntents = 25;
/** What came of calls is written after that time, when so many have gathered, or with the next intents. */
const noteAfterMs = 10;
const mostNotes = 16;
const againAfterMs = 200;
/** How often a ledger to which nothing is written is looked at. */
const lookEveryMs = 1_000;

/**
 * Writes what a worker does with a batch into its ledger. What gathers while one entry is on its way goes into the next.
 *
 * An entry that is not where it belongs tells that somebody else has written: what that was is read before anything is
 * called.
 */
export class LedgerWriter {
  readonly #options: LedgerWriterOptions;
  /** Entries that were read or written. */
  #length = 0;
  readonly #intents: { readonly row: number; readonly resolve: (recorded: boolean) => void }[] = [];
  /** What came of calls, and is not written yet. */
  readonly #results: RowResult[] = [];
  readonly #unfinished: Unfinished[] = [];
  readonly #answers: SavedAnswer[] = [];
  /** Whether something is read or written: what gathers meanwhile is written, too. */
  #isAtWork = false;
  #noteTimer: NodeJS.Timeout | undefined;
  readonly #looks = repeat(() => this.#look(), { everyMs: lookEveryMs });
  #ended = false;
  #closed = false;

  constructor(options: LedgerWriterOptions) {
    this.#options = options;
  }

  /** Takes the batch over from whoever had it: afterwards the ledger says all that they have done. */
  async begin(): Promise<void> {
    const { claim, ledger } = this.#options;
    const length = await this.#append({ type: 'begin', claim });
    if (length !== undefined) await this.#readTo(length);
    if (ledger.claim > claim) this.#end('lost');
  }

  /** Resolves once the row may be called; false: it must not be. */
  intend(row: number): Promise<boolean> {
    if (this.#ended) return Promise.resolve(false);
    return new Promise((resolve) => {
      this.#intents.push({ row, resolve });
      this.#write();
    });
  }

  finished(result: RowResult): void {
    this.#options.ledger.finish(result);
    this.#results.push(result);
    this.#noteSoon();
  }

  unfinished(row: Unfinished): void {
    this.#options.ledger.leave(row);
    this.#unfinished.push(row);
    this.#noteSoon();
  }

  /** Goes into the ledger with what came of the call. */
  answered(answer: SavedAnswer): void {
    this.#options.ledger.answered(answer);
    this.#answers.push(answer);
  }

  /** Nothing of the batch is to be called any more: what waits for its intent is refused. */
  end(): void {
    this.#ended = true;
    for (const { resolve } of this.#intents.splice(0)) resolve(false);
  }

  /** Writes nothing any more. */
  close(): void {
    this.end();
    this.#closed = true;
    clearTimeout(this.#noteTimer);
    void this.#looks.stop();
  }

  #noteSoon(): void {
    if (this.#results.length + this.#unfinished.length >= mostNotes) this.#write();
    else
      this.#noteTimer ??= setTimeout(() => {
        this.#noteTimer = undefined;
        this.#write();
      }, noteAfterMs);
  }

  #write(): void {
    if (this.#isAtWork) return;
    this.#isAtWork = true;
    void this.#writeAll();
  }

  #look(): void {
    if (this.#ended || this.#isAtWork) return;
    this.#isAtWork = true;
    void this.#read()
      .catch(this.#options.onError)
      .then(() => this.#writeAll());
  }

  async #writeAll(): Promise<void> {
    for (;;) {
      const intents = this.#intents.splice(0, mostIntents);
      const results = this.#results.splice(0);
      const unfinished = this.#unfinished.splice(0);
      const answers = this.#answers.splice(0);
      if (this.#closed || intents.length + results.length + unfinished.length === 0) {
        // In the same moment: the next intent may come before anything else is done.
        this.#isAtWork = false;
        return;
      }
      const entry: LedgerEntry = {
        type: 'work',
        claim: this.#options.claim,
        ...(intents.length > 0 && { intents: intents.map(({ row }) => row) }),
        ...(results.length > 0 && { results }),
        ...(unfinished.length > 0 && { unfinished }),
        ...(answers.length > 0 && { answers }),
      };
      let state = await this.#written(entry);
      // Written twice, it says the same.
      while (state === 'outdated' && intents.length > 0) state = await this.#written(entry);
      for (const { row, resolve } of intents) {
        if (state === 'current') this.#options.ledger.intend(row);
        resolve(state === 'current');
      }
    }
  }

  /**
   * Appends an entry, and reads what others have appended before it.
   *
   * @returns `outdated` when that took so long that the lock of the batch may have run out since the datastore answered, and another
   * worker may have begun, or even completed it
   */
  async #written(entry: LedgerEntry): Promise<'current' | 'outdated' | 'ended'> {
    const sentAt = performance.now();
    const length = await this.#append(entry);
    if (length !== undefined && length !== this.#length + 1) await this.#readTo(length);
    else if (length !== undefined) this.#length = length;
    if (length === undefined || this.#ended) return 'ended';
    return performance.now() - sentAt > lockMs / 2 ? 'outdated' : 'current';
  }

  /** @returns how long the ledger is then; undefined when there is none any more. */
  async #append(entry: LedgerEntry): Promise<number | undefined> {
    const text = encodeLedgerEntry(entry);
    while (!this.#closed) {
      try {
        return await this.#options.log.append(text);
      } catch (error) {
        // The datastore has lost it, or another worker has completed it.
        if (isMissing(error)) {
          this.#end('lost');
          return undefined;
        }
        this.#options.onError(error as Error);
        // Whether it was written is unknown: written twice, it says the same.
        await after(againAfterMs);
      }
    }
    return undefined;
  }

  /** Also when the batch is handed back meanwhile: what is returned must hold all that the ledger says. */
  async #readTo(length: number): Promise<void> {
    while (!this.#closed && this.#length < length) {
      try {
        const before = this.#length;
        await this.#read();
        if (this.#length > before) continue;
        this.#end('lost');
        return;
      } catch (error) {
        this.#options.onError(error as Error);
        await after(againAfterMs);
      }
    }
  }

  /** Reads what others have appended. */
  async #read(): Promise<void> {
    const { log, ledger, claim } = this.#options;
    const first = this.#length;
    const texts = await log.read(first);
    // Who begins and who looks may read the same at the same time.
    const unread = texts.slice(this.#length - first);
    this.#length += unread.length;
    for (const text of unread) {
      const entry = decodeLedgerEntry(text);
      // Own entries are known; those of an earlier claim are old news once this one has begun.
      if (entry.type !== 'work' || entry.claim !== claim) ledger.apply(entry);
    }
    if (ledger.claim > claim) this.#end('lost');
    else if (ledger.isWithdrawn) this.#end('withdrawn');
  }

  #end(end: 'withdrawn' | 'lost'): void {
    if (this.#ended) return;
    this.end();
    this.#options.onEnd(end);
  }
}
