import { outcomes, type RowHistory, type RowResult } from '../domain.ts';
import { fatalError } from '../errors.ts';
import { isJsonObject } from '../json.ts';
import type { RetryPolicy } from './verdict.ts';

/**
 * What goes through the datastore. Every payload is JSON text inside one string: the text escapes NUL and lone
 * surrogates, which PostgreSQL's `jsonb` refuses, so whatever a manifest or an API says comes back exactly.
 */

/** Version of the payloads; a worker refuses batches of a version that it does not know. */
const payloadVersion = 2;

/** A row as a worker gets it. It holds no token: each worker has its own. */
export interface RowTask {
  readonly run: string;
  readonly row: number;
  readonly operation: string;
  readonly subject: string;
  readonly path: string;
  /** The request's body, exactly as it goes out. */
  readonly body: string;
  /** What attempts did before; absent when there were none. */
  readonly history?: RowHistory;
  /** Attempts of this run that are used up; absent: none. */
  readonly attemptsUsed?: number;
}

/** Rows of one run that one worker calls, and how. */
export interface Batch {
  readonly tasks: readonly RowTask[];
  readonly policy: RetryPolicy;
}

/** A row that a worker hands back, unfinished. */
export interface Leftover {
  readonly row: number;
  /** Absent when it was never called. */
  readonly history?: RowHistory;
  readonly attemptsUsed: number;
  /** When it may be called again, milliseconds from now. */
  readonly delayMs: number;
}

/** What a batch has come to: each of its rows is in one of the two. */
export interface BatchReturn {
  readonly results: readonly RowResult[];
  readonly leftovers: readonly Leftover[];
}

/** One entry of a batch's ledger (`ledger.ts`). */
export type LedgerEntry =
  /** The worker of that claim, counted from 1, takes the batch over: whoever had it before may call nothing more. */
  | { readonly type: 'begin'; readonly claim: number }
  /** The coordinator wants the batch back. */
  | { readonly type: 'withdraw' }
  /** What the worker of that claim is about to call, and what came of earlier calls. */
  | {
      readonly type: 'work';
      readonly claim: number;
      readonly intents?: readonly number[];
      readonly results?: readonly RowResult[];
      readonly unfinished?: readonly Unfinished[];
    };

/** A row that was about to be called, and will be again: what its attempts did so far. */
export interface Unfinished {
  readonly row: number;
  /** Absent when it was never called. */
  readonly history?: RowHistory;
  readonly attemptsUsed: number;
}

/** Data of a batch's job: an envelope that every version understands around a text that may not. */
export interface BatchJobData {
  readonly v: number;
  readonly text: string;
}

export function encodeBatch({ tasks, policy }: Batch): BatchJobData {
  return { v: payloadVersion, text: JSON.stringify({ tasks, policy }) };
}

/** @throws a fatal error `UNKNOWN_PAYLOAD` when another version of the program wrote it. */
export function decodeBatch(data: unknown): Batch {
  const { v, text } = data as Partial<BatchJobData>;
  if (v !== payloadVersion || typeof text !== 'string') {
    throw fatalError(
      'UNKNOWN_PAYLOAD',
      `A batch in the datastore has data of version ${String(v)}; this program knows version ${payloadVersion}. ` +
        'Use the version of cqbatch that started the run.',
    );
  }
  return readBatch(JSON.parse(text), 'batch');
}

export function encodeReturn(value: BatchReturn): string {
  return JSON.stringify(value);
}

export function decodeReturn(value: unknown): BatchReturn {
  // The datastores differ in whether they hand back the JSON string or its text.
  const parsed: unknown = JSON.parse(String(value));
  return readReturn(typeof parsed === 'string' ? JSON.parse(parsed) : parsed, 'result');
}

export function encodeEntry(entry: LedgerEntry): string {
  return JSON.stringify(entry);
}

export function decodeEntry(text: string): LedgerEntry {
  return readEntry(JSON.parse(text), 'ledger');
}

/**
 * Checks a part of a payload, `undefined` where it is absent, and gives it back. It throws a TypeError, because only a
 * defect of this program makes such payloads; a schema library would take longer than everything else here.
 */
type Read<T> = (value: unknown, name: string) => T;

/** How each field of an object is read. */
type Fields<T> = {
  readonly [Name in keyof T]-?: Read<object extends Pick<T, Name> ? T[Name] | undefined : T[Name]>;
};

const readText: Read<string> = (value, name) => (typeof value === 'string' ? value : malformed(name));
const readFlag: Read<boolean> = (value, name) => (typeof value === 'boolean' ? value : malformed(name));
const readNumber: Read<number> = (value, name) =>
  typeof value === 'number' && Number.isFinite(value) ? value : malformed(name);

function oneOf<T>(values: readonly T[]): Read<T> {
  return (value, name) => values.find((known) => known === value) ?? malformed(name);
}

function optional<T>(read: Read<T>): Read<T | undefined> {
  return (value, name) => (value === undefined ? undefined : read(value, name));
}

function listOf<T>(read: Read<T>): Read<readonly T[]> {
  return (value, name) => (Array.isArray(value) ? value.map((item) => read(item, name)) : malformed(name));
}

/** An object with these fields; others are left out. */
function readObject<T extends object>(fields: Fields<T>): Read<T> {
  const reads = Object.entries<Read<unknown>>(fields);
  return (value, name) => {
    if (!isJsonObject(value)) return malformed(name);
    const known: Record<string, unknown> = {};
    for (const [field, read] of reads) {
      const part = read(value[field], field);
      if (part !== undefined) known[field] = part;
    }
    return known as T;
  };
}

const readTexts: Read<Readonly<Record<string, string>>> = (value, name) => {
  if (!isJsonObject(value)) return malformed(name);
  for (const key in value) readText(value[key], key);
  return value as Readonly<Record<string, string>>;
};

function malformed(name: string): never {
  throw new TypeError(`Data of a row in the datastore are malformed: ${name}`);
}

const readHistory = readObject<RowHistory>({
  attempts: readNumber,
  unprocessed: readNumber,
  unclear: readFlag,
  startedAt: optional(readText),
  lastCode: optional(readText),
  lastMessage: optional(readText),
  lastStatus: optional(readNumber),
});

const readTask = readObject<RowTask>({
  run: readText,
  row: readNumber,
  operation: readText,
  subject: readText,
  path: readText,
  body: readText,
  history: optional(readHistory),
  attemptsUsed: optional(readNumber),
});

const readResult = readObject<RowResult>({
  row: readNumber,
  operation: readText,
  outcome: oneOf(outcomes),
  code: readText,
  message: readText,
  httpStatus: optional(readNumber),
  attempts: readNumber,
  unprocessed: optional(readNumber),
  unclear: readFlag,
  startedAt: optional(readText),
  finishedAt: optional(readText),
  durationMs: optional(readNumber),
  duplicateOf: optional(readNumber),
  columns: optional(readTexts),
});

const readBatch = readObject<Batch>({
  tasks: listOf(readTask),
  policy: readObject<RetryPolicy>({ attempts: readNumber, backoffMs: readNumber }),
});

const readReturn = readObject<BatchReturn>({
  results: listOf(readResult),
  leftovers: listOf(
    readObject<Leftover>({
      row: readNumber,
      history: optional(readHistory),
      attemptsUsed: readNumber,
      delayMs: readNumber,
    }),
  ),
});

const readEntry: Read<LedgerEntry> = (value, name) => {
  const { type } = isJsonObject(value) ? value : {};
  if (type === 'withdraw') return { type };
  if (type === 'begin')
    return readObject<LedgerEntry & { type: 'begin' }>({ type: oneOf(['begin']), claim: readNumber })(
      value,
      name,
    );
  return readWork(value, name);
};

const readWork = readObject<LedgerEntry & { type: 'work' }>({
  type: oneOf(['work']),
  claim: readNumber,
  intents: optional(listOf(readNumber)),
  results: optional(listOf(readResult)),
  unfinished: optional(
    listOf(
      readObject<Unfinished>({ row: readNumber, history: optional(readHistory), attemptsUsed: readNumber }),
    ),
  ),
});
