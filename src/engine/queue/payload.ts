import { fatalError } from '../../base/errors/errors.ts';
import type { AttemptHistory, Method, RowResult, SavedAnswer } from '../../domain/terms.ts';

/**
 * The payloads in the datastore. Each is JSON text inside one string: the text escapes NUL and lone surrogates, which
 * PostgreSQL's `jsonb` refuses, so that manifests and answers come back exactly. Only this program writes payloads, so it
 * checks only their version: compiled schemas would cost 70 of 850 µs of CPU a row in a run of 2,000 rows.
 */

/**
 * Workers refuse batches of versions that they don't know. A batch has the version of what it needs: workers of version 3 would leave out
 * the header fields of requests.
 */
const versions = { usual: 3, withHeaders: 4 } as const;

/** A row for a worker. Each worker has its own token. */
export interface RowTask {
  readonly run: string;
  readonly row: number;
  readonly operation: string;
  readonly subject: string;
  /** Default POST. */
  readonly method?: Method;
  readonly path: string;
  /** Header fields of the request besides those of the client. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** The exact body of the request. */
  readonly body: string;
  /** What earlier attempts of the row did; absent without earlier attempts. */
  readonly history?: AttemptHistory | undefined;
  /** Attempts used up in this run. Default 0. */
  readonly attemptsUsed?: number;
}

/** What a run allows workers. */
export interface RunPolicy {
  /** Attempts of a row for transient failures, from 1. */
  readonly attempts: number;
  /** Upper bound of the pause after the first failed attempt, in milliseconds; doubles with each further attempt. */
  readonly backoffMs: number;
  /** Whether workers return answers. */
  readonly saveAnswers?: true;
  /** The key of the run, of which workers make trace ids and idempotency keys. Absent: an earlier version started the run. */
  readonly key?: string;
  /** Whether operations of the run send an `Idempotency-Key`. */
  readonly sendsKeys?: true;
  /** Operations of which rows of the run have succeeded. */
  readonly proven?: readonly string[];
}

/** Rows of one run for one worker. */
export interface Batch {
  readonly tasks: readonly RowTask[];
  readonly policy: RunPolicy;
  /** The epoch that the connection showed when the batch was added. In another epoch, workers call none of its rows. */
  readonly epoch?: string | undefined;
}

/** An unfinished row, and what its attempts did. */
export interface Unfinished {
  readonly row: number;
  /** Absent when the row was never called. */
  readonly history?: AttemptHistory | undefined;
  readonly attemptsUsed: number;
}

export interface Leftover extends Unfinished {
  /** Milliseconds until the row may be called again. */
  readonly delayMs: number;
}

/** The outcome of a batch: each row is in one of the two lists. */
export interface BatchReturn {
  readonly results: readonly RowResult[];
  readonly leftovers: readonly Leftover[];
  readonly answers?: readonly SavedAnswer[];
  /**
   * Set when another worker may have called rows that this one left over: it found the batch in another epoch, where the datastore may have
   * forgotten calls, or it lost the batch before it handed it over.
   */
  readonly isFound?: true;
}

/** One entry of a batch's ledger (`ledger.ts`). */
export type LedgerEntry =
  /** The worker of this claim, from 1, takes the batch over: its former worker may call no more rows. */
  | { readonly type: 'begin'; readonly claim: number }
  /** The coordinator withdraws the batch. */
  | { readonly type: 'withdraw' }
  /** The worker of this claim is about to call rows, and reports earlier calls. */
  | {
      readonly type: 'work';
      readonly claim: number;
      readonly intents?: readonly number[];
      readonly results?: readonly RowResult[];
      readonly unfinished?: readonly Unfinished[];
      readonly answers?: readonly SavedAnswer[];
    };

/** Data of a batch's job: an envelope that every version understands, around a text of one version. */
export interface BatchJobData {
  readonly v: number;
  readonly text: string;
}

export function encodeBatch({ tasks, policy, epoch }: Batch): BatchJobData {
  const needsHeaders = policy.sendsKeys === true || tasks.some(({ headers }) => headers !== undefined);
  const v = needsHeaders ? versions.withHeaders : versions.usual;
  return { v, text: JSON.stringify({ tasks, policy, epoch }) };
}

/** @throws a fatal error `UNKNOWN_PAYLOAD` for another version */
export function decodeBatch({ v, text }: Partial<BatchJobData>): Batch {
  if ((v !== versions.usual && v !== versions.withHeaders) || typeof text !== 'string') {
    throw fatalError(
      'UNKNOWN_PAYLOAD',
      `A batch in the datastore has data of version ${String(v)}; this program knows versions ${versions.usual} and ${versions.withHeaders}. ` +
        'Use the version of cqbatch that started the run.',
    );
  }
  return JSON.parse(text);
}

export function encodeReturn(value: BatchReturn): string {
  return JSON.stringify(value);
}

export function decodeReturn(value: unknown): BatchReturn {
  // Some datastores return the JSON string, others its text.
  const parsed: BatchReturn | string = JSON.parse(String(value));
  return typeof parsed === 'string' ? JSON.parse(parsed) : parsed;
}

export function encodeLedgerEntry(entry: LedgerEntry): string {
  return JSON.stringify(entry);
}

export function decodeLedgerEntry(text: string): LedgerEntry {
  return JSON.parse(text);
}
