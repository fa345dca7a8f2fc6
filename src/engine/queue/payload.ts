import { fatalError } from '../../base/errors/errors.ts';
import type { AttemptHistory, RowResult } from '../../domain/row-result.ts';
import type { Method, SavedAnswer } from '../../domain/terms.ts';

/**
 * Each payload is JSON text inside one string: its escapes of NUL and lone surrogates, which PostgreSQL's `jsonb` refuses, keep manifests
 * and answers exact. Only this program writes payloads, so only their version is checked: schemas would cost 8 % of the CPU of a row.
 */

/** Workers refuse other versions. */
const version = 5;

export interface RowTask {
  readonly run: string;
  readonly row: number;
  readonly operation: string;
  readonly subject: string;
  /** Fields of the operation. A request never travels: each worker makes it. */
  readonly values: Readonly<Record<string, string>>;
  /** Of the request that the plan showed: a worker sends no other. */
  readonly requestDigest: string;
  /** The `Idempotency-Key` of an earlier run that may have had the row processed. Default: that of this run. */
  readonly key?: string | undefined;
  readonly history?: AttemptHistory | undefined;
  /** In this run. Default 0. */
  readonly attemptsUsed?: number;
}

/** A row with the request that the worker's operation makes of its values. */
export interface RowCall extends RowTask {
  /** Default POST. */
  readonly method?: Method;
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>> | undefined;
  readonly body: string;
}

/** About the size in the datastore. */
export function bytesOf(...tasks: readonly RowTask[]): number {
  let bytes = 0;
  for (const { values } of tasks) for (const name in values) bytes += values[name]?.length ?? 0;
  return bytes;
}

export interface RunPolicy {
  /** For transient failures, from 1. */
  readonly attempts: number;
  /** Bound of the pause after the first failed attempt; doubles with each attempt. */
  readonly backoffMs: number;
  readonly saveAnswers?: true;
  /** Workers make trace ids and idempotency keys from it. Absent: an earlier version started the run. */
  readonly key?: string;
  readonly sendsKeys?: true;
  /** Operations of which rows of the run have succeeded. */
  readonly proven?: readonly string[];
  /** Operations of which rows of earlier runs have succeeded at this address. */
  readonly succeededBefore?: readonly string[];
}

export interface Batch<Task extends RowTask = RowTask> {
  readonly tasks: readonly Task[];
  readonly policy: RunPolicy;
  /** The datastore's epoch when the batch was added. In another epoch, workers call none of its rows. */
  readonly epoch?: string | undefined;
}

export interface Unfinished {
  readonly row: number;
  /** Absent when never called. */
  readonly history?: AttemptHistory | undefined;
  readonly attemptsUsed: number;
}

export interface Leftover extends Unfinished {
  readonly delayMs: number;
}

export function uncalledRow(row: number): Leftover {
  return { row, attemptsUsed: 0, delayMs: 0 };
}

/** Each row is in one of the two lists. */
export interface BatchReturn {
  readonly results: readonly RowResult[];
  readonly leftovers: readonly Leftover[];
  readonly answers?: readonly SavedAnswer[];
}

export type LedgerEntry =
  /** The worker of this claim, from 1, takes over: its predecessor may call no more rows. */
  | { readonly type: 'begin'; readonly claim: number; readonly isFirst?: true }
  | { readonly type: 'withdraw' }
  | {
      readonly type: 'work';
      readonly claim: number;
      /** The first entry of a worker: a ledger that begins with another entry has lost its beginning. */
      readonly isFirst?: true;
      readonly intents?: readonly number[];
      readonly results?: readonly RowResult[];
      readonly unfinished?: readonly Unfinished[];
      readonly answers?: readonly SavedAnswer[];
    };

/** An envelope that every version understands, around a text of one version. */
export interface BatchJobData {
  readonly v: number;
  readonly text: string;
  /** Of the job. Another job with these data is a copy. */
  readonly id?: string;
}

/** The progress of a job whose ledger has entries. */
export const ledgerNote = 'called';

export function encodeBatch({ tasks, policy, epoch }: Batch): BatchJobData {
  return { v: version, text: JSON.stringify({ tasks, policy, epoch }) };
}

/** False for jobs that another program has added, and for remainders of jobs whose data Redis has lost. */
export function isBatch({ v, text }: Partial<BatchJobData>): boolean {
  return typeof v === 'number' && typeof text === 'string';
}

/** @throws a fatal error `UNKNOWN_PAYLOAD` for another version */
export function decodeBatch({ v, text }: Partial<BatchJobData>): Batch {
  if (v !== version || typeof text !== 'string') {
    throw fatalError(
      'UNKNOWN_PAYLOAD',
      `A batch in the datastore has data of version ${String(v)}; this program knows version ${version}. ` +
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
