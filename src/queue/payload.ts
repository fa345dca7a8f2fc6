import type { Method, RowHistory, RowResult, SavedAnswer } from '../domain.ts';
import { fatalError } from '../errors.ts';

/**
 * What goes through the datastore. Every payload is JSON text inside one string: the text escapes NUL and lone surrogates,
 * which PostgreSQL's `jsonb` refuses, so that everything in a manifest or an answer comes back exactly. Only this program
 * writes payloads, so that it checks their version but not their parts.
 */

/** Version of the payloads; a worker refuses batches of another version. */
const payloadVersion = 3;

/** A row for a worker. It holds no token: each worker has its own. */
export interface RowTask {
  readonly run: string;
  readonly row: number;
  readonly operation: string;
  readonly subject: string;
  /** Absent: POST. */
  readonly method?: Method;
  readonly path: string;
  /** The request's body, exactly as it is sent. */
  readonly body: string;
  /** What earlier attempts did; absent when there were none. */
  readonly history?: RowHistory;
  /** Attempts of this run that are used up; absent means 0. */
  readonly attemptsUsed?: number;
}

/** How often and after which pauses a failed attempt is repeated. */
export interface RetryPolicy {
  /** Attempts of a row for transient failures, from 1. */
  readonly attempts: number;
  /** Upper bound of the pause after the first failed attempt, in milliseconds; it doubles with each further one. */
  readonly backoffMs: number;
  /** Whether answers are handed over, too. */
  readonly saveAnswers?: true;
}

/** Rows of one run that one worker calls, and how. */
export interface Batch {
  readonly tasks: readonly RowTask[];
  readonly policy: RetryPolicy;
}

/** A row that is about to be called, possibly again: what its attempts did so far. */
export interface Unfinished {
  readonly row: number;
  /** Absent when it was never called. */
  readonly history?: RowHistory;
  readonly attemptsUsed: number;
}

/** A row that a worker hands back, unfinished. */
export interface Leftover extends Unfinished {
  /** When it may be called again, milliseconds from now. */
  readonly delayMs: number;
}

/** The outcome of a batch: each of its rows is in one of the two. */
export interface BatchReturn {
  readonly results: readonly RowResult[];
  readonly leftovers: readonly Leftover[];
  readonly answers?: readonly SavedAnswer[];
}

/** One entry of a batch's ledger (`ledger.ts`). */
export type LedgerEntry =
  /** The worker of this claim, counted from 1, takes the batch over: its former worker may call nothing more. */
  | { readonly type: 'begin'; readonly claim: number }
  /** The coordinator wants the batch back. */
  | { readonly type: 'withdraw' }
  /** What the worker of this claim is about to call, and the outcomes of earlier calls. */
  | {
      readonly type: 'work';
      readonly claim: number;
      readonly intents?: readonly number[];
      readonly results?: readonly RowResult[];
      readonly unfinished?: readonly Unfinished[];
      readonly answers?: readonly SavedAnswer[];
    };

/** Data of a batch's job: an envelope that every version understands, around a text that it may not. */
export interface BatchJobData {
  readonly v: number;
  readonly text: string;
}

export function encodeBatch({ tasks, policy }: Batch): BatchJobData {
  return { v: payloadVersion, text: JSON.stringify({ tasks, policy }) };
}

/** @throws a fatal error `UNKNOWN_PAYLOAD` when another version of the program wrote it. */
export function decodeBatch({ v, text }: Partial<BatchJobData>): Batch {
  if (v !== payloadVersion || typeof text !== 'string') {
    throw fatalError(
      'UNKNOWN_PAYLOAD',
      `A batch in the datastore has data of version ${String(v)}; this program knows version ${payloadVersion}. ` +
        'Use the version of cqbatch that started the run.',
    );
  }
  return JSON.parse(text);
}

export function encodeReturn(value: BatchReturn): string {
  return JSON.stringify(value);
}

export function decodeReturn(value: unknown): BatchReturn {
  // The datastores differ in whether they hand back the JSON string or its text.
  const parsed: BatchReturn | string = JSON.parse(String(value));
  return typeof parsed === 'string' ? JSON.parse(parsed) : parsed;
}

export function encodeLedgerEntry(entry: LedgerEntry): string {
  return JSON.stringify(entry);
}

export function decodeLedgerEntry(text: string): LedgerEntry {
  return JSON.parse(text);
}
