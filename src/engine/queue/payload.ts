import { type CqbatchError, fatalError } from '../../base/errors/errors.ts';
import type { AttemptHistory } from '../../domain/row-result.ts';
import type { Method, SavedAnswer } from '../../domain/terms.ts';
import { type ResultLine, resultLineIn } from '../journal/line.ts';
import { type LineOperation, operationIn } from '../rows/row-line.ts';

/**
 * Each payload is lines of text inside one string: a head of JSON, then the lines of rows as `rows.jsonl` has them, or the lines of results as
 * the journal gets them. The escapes of JSON for NUL and lone surrogates, which PostgreSQL's `jsonb` refuses, keep manifests and answers
 * exact. Only this program writes payloads, so only their version is checked: schemas would cost 8 % of the CPU of a row. The coordinator
 * checks a result when it decodes the line for the journal.
 */

/** The version of payloads. Workers refuse other versions. */
const payloadVersion = 6;

/** The operation of a row, with its index in the head of `rows.jsonl`. */
export interface TaskOperation extends LineOperation {
  readonly op: number;
}

/** A row as the coordinator feeds it. */
export interface RowTask {
  readonly row: number;
  readonly operation: TaskOperation;
  /** The line of the row, by `cutCallable`. A request never travels: each worker makes it of the values in the line. */
  readonly line: string;
  readonly history?: AttemptHistory | undefined;
  /** The row's attempts in this run that count against the limit. Default: 0. */
  readonly attemptsUsed?: number | undefined;
}

/** A row with the request that the worker's operation makes of its values. */
export interface RowCall {
  readonly run: string;
  readonly row: number;
  readonly operation: string;
  readonly subject: string;
  /** The `Idempotency-Key` of an earlier run that may have had the row processed. Default: that of this run. */
  readonly key?: string | undefined;
  readonly history?: AttemptHistory | undefined;
  /** The row's attempts in this run that count against the limit. Default: 0. */
  readonly attemptsUsed?: number | undefined;
  /** The HTTP method. Default: POST. */
  readonly method?: Method;
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>> | undefined;
  readonly body: string;
}

/** The characters in the lines of the rows: about their size in the datastore. */
export function bytesOf(...tasks: readonly RowTask[]): number {
  return tasks.reduce((bytes, { line }) => bytes + line.length, 0);
}

export interface RunPolicy {
  /** The most attempts of a row after transient failures, from 1. */
  readonly attempts: number;
  /** Upper bound of the pause after a row's first failed attempt. Doubles with each attempt. */
  readonly backoffMs: number;
  readonly saveAnswers?: true;
  /** The key from which workers make trace ids and idempotency keys. Absent: an earlier version started the run. */
  readonly key?: string;
  readonly sendsKeys?: true;
  /** Operations of which rows of the run have succeeded. */
  readonly proven?: readonly string[];
  /** Operations of which rows of earlier runs have succeeded at this address. */
  readonly succeededBefore?: readonly string[];
}

export interface Batch<Task = RowTask> {
  readonly run: string;
  readonly tasks: readonly Task[];
  readonly policy: RunPolicy;
  /** The datastore's epoch when the batch was added. In another epoch, workers call none of its rows. */
  readonly epoch?: string | undefined;
}

export interface AttemptsOfRow {
  readonly row: number;
  /** What earlier attempts of the row did. Absent for a row that was never called. */
  readonly history?: AttemptHistory | undefined;
  readonly attemptsUsed: number;
}

export interface UnfinishedRow extends AttemptsOfRow {
  readonly delayMs: number;
}

export function uncalledRow(row: number): UnfinishedRow {
  return { row, attemptsUsed: 0, delayMs: 0 };
}

/** What a worker returns of its batch. Each row is either in `results` or in `unfinishedRows`. */
export interface BatchReturn {
  readonly results: readonly ResultLine[];
  readonly unfinishedRows: readonly UnfinishedRow[];
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
      readonly results?: readonly ResultLine[];
      readonly unfinished?: readonly AttemptsOfRow[];
      readonly answers?: readonly SavedAnswer[];
    };

/** The data of a batch's job: an envelope that every version understands, around a text of one version. */
export interface BatchJobData {
  readonly v: number;
  readonly text: string;
  /** The id of the batch's job. Another job with these data is a copy. */
  readonly id?: string;
}

/** The progress of a job whose ledger has entries. */
export const ledgerNote = 'called';

interface BatchHead extends Pick<Batch, 'run' | 'policy' | 'epoch'> {
  readonly operations: readonly TaskOperation[];
  /** The places of the rows, in the order of their lines. */
  readonly rows: readonly number[];
  /** What was done for rows before; absent for a row that this run has never called. */
  readonly begun?: readonly EarlierAttempts[];
}

type EarlierAttempts = Pick<RowTask, 'row' | 'history' | 'attemptsUsed'>;

export function encodeBatch({ run, tasks, policy, epoch }: Batch): BatchJobData {
  const begun = tasks.flatMap(({ row, history, attemptsUsed }): readonly EarlierAttempts[] =>
    history === undefined && attemptsUsed === undefined ? [] : [{ row, history, attemptsUsed }],
  );
  const head: BatchHead = {
    run,
    policy,
    epoch,
    operations: [...new Map(tasks.map(({ operation }) => [operation.op, operation])).values()],
    rows: tasks.map(({ row }) => row),
    ...(begun.length > 0 && { begun }),
  };
  return { v: payloadVersion, text: textOf(head, tasks) };
}

/** False for jobs that another program has added, and for remainders of jobs whose data Redis has lost. */
export function isBatch({ v, text }: Partial<BatchJobData>): boolean {
  return typeof v === 'number' && typeof text === 'string';
}

/** @throws a fatal error `UNKNOWN_PAYLOAD` for another version */
export function decodeBatch({ v, text }: Partial<BatchJobData>): Batch {
  if (v !== payloadVersion || typeof text !== 'string') throw unknownPayload('A batch', v);
  const [head, lines] = partsOf<BatchHead>(text);
  const { run, policy, epoch, rows, begun = [] } = head;
  const operations = new Map(head.operations.map((operation) => [operation.op, operation]));
  const known = new Map(begun.map((each) => [each.row, each]));
  const tasks = rows.map((row, index): RowTask => {
    const line = lines[index] ?? '';
    const operation = operations.get(operationIn(line) ?? -1);
    if (operation === undefined) throw new SyntaxError(`The batch has no line of row ${row}`);
    return { ...known.get(row), row, operation, line };
  });
  return { run, tasks, policy, ...(epoch !== undefined && { epoch }) };
}

interface ReturnHead extends Omit<BatchReturn, 'results'> {
  readonly v: number;
}

export function encodeReturn({ results, ...others }: BatchReturn): string {
  const head: ReturnHead = { v: payloadVersion, ...others };
  return textOf(head, results);
}

/** @throws a fatal error `UNKNOWN_PAYLOAD` for another version */
export function decodeReturn(value: unknown): BatchReturn {
  const text = String(value);
  // Some datastores return the value as a JSON string, others as the text in it.
  const [{ v, ...head }, lines] = partsOf<ReturnHead>(text.startsWith('"') ? JSON.parse(text) : text);
  if (v !== payloadVersion) throw unknownPayload('The outcome of a batch', v);
  return { ...head, results: resultsIn(lines) };
}

export function encodeLedgerEntry(entry: LedgerEntry): string {
  if (entry.type !== 'work' || entry.results === undefined) return JSON.stringify(entry);
  const { results, ...head } = entry;
  return textOf(head, results);
}

export function decodeLedgerEntry(text: string): LedgerEntry {
  const [head, lines] = partsOf<LedgerEntry>(text);
  return head.type === 'work' && lines.length > 0 ? { ...head, results: resultsIn(lines) } : head;
}

function textOf(head: object, lines: readonly { readonly line: string }[]): string {
  let text = JSON.stringify(head);
  for (const { line } of lines) text += `\n${line}`;
  return text;
}

function partsOf<Head>(text: string): readonly [head: Head, lines: readonly string[]] {
  const [head = '', ...lines] = text.split('\n');
  return [JSON.parse(head), lines];
}

function resultsIn(lines: readonly string[]): readonly ResultLine[] {
  return lines.map((line) => {
    const result = resultLineIn(line);
    if (result === undefined) throw unreadableResult();
    return result;
  });
}

function unknownPayload(what: string, found: unknown): CqbatchError {
  return fatalError(
    'UNKNOWN_PAYLOAD',
    `${what} in the datastore has data of version ${String(found)}; this program knows version ${payloadVersion}. ` +
      'Use the version of cqbatch that started the run.',
  );
}

/** The error for a line of a result with which the journal could not be read again. */
export function unreadableResult(row?: number): CqbatchError {
  const which = row === undefined ? '' : ` of row ${row}`;
  return fatalError(
    'UNKNOWN_PAYLOAD',
    `A result${which} in the datastore is not a line of the journal. Use the version of cqbatch that started the run.`,
  );
}
