import { z } from 'zod';
import {
  type Attempt,
  methods,
  outcomes,
  type ResultColumns,
  type RowHistory,
  type RowResult,
  type SavedAnswer,
} from '../domain.ts';
import { fatalError } from '../errors.ts';
import { isJsonObject } from '../text/json.ts';

/**
 * What goes through the datastore. Every payload is JSON text inside one string: the text escapes NUL and lone
 * surrogates, which PostgreSQL's `jsonb` refuses, so whatever a manifest or an API says comes back exactly.
 */

/** Version of the payloads; a worker refuses batches of a version that it does not know. */
const payloadVersion = 3;

const attemptSchema = z.object({
  at: z.string().exactOptional(),
  durationMs: z.number().exactOptional(),
  code: z.string().exactOptional(),
  message: z.string().exactOptional(),
  httpStatus: z.number().exactOptional(),
  requests: z.number().exactOptional(),
  omitted: z.number().exactOptional(),
}) satisfies z.ZodType<Attempt>;

const historySchema = z.object({
  attempts: z.number(),
  unprocessed: z.number(),
  unclear: z.boolean(),
  startedAt: z.string().exactOptional(),
  lastCode: z.string().exactOptional(),
  lastMessage: z.string().exactOptional(),
  lastStatus: z.number().exactOptional(),
  earlier: z.array(attemptSchema).exactOptional(),
}) satisfies z.ZodType<RowHistory>;

const resultSchema = z.object({
  row: z.number(),
  operation: z.string(),
  outcome: z.enum(outcomes),
  code: z.string(),
  message: z.string(),
  httpStatus: z.number().exactOptional(),
  attempts: z.number(),
  unprocessed: z.number().exactOptional(),
  unclear: z.boolean(),
  startedAt: z.string().exactOptional(),
  finishedAt: z.string().exactOptional(),
  durationMs: z.number().exactOptional(),
  duplicateOf: z.number().exactOptional(),
  // `z.record` takes twice the time of all other fields together.
  columns: z.custom<ResultColumns>(isTexts).exactOptional(),
  earlier: z.array(attemptSchema).exactOptional(),
}) satisfies z.ZodType<RowResult>;

const answerSchema = z.object({
  row: z.number(),
  at: z.string(),
  status: z.number(),
  headers: z.custom<SavedAnswer['headers']>(isTexts),
  body: z.string(),
  cut: z.literal(true).exactOptional(),
}) satisfies z.ZodType<SavedAnswer>;

const taskSchema = z.object({
  run: z.string(),
  row: z.number(),
  operation: z.string(),
  subject: z.string(),
  /** Absent: POST. */
  method: z.enum(methods).exactOptional(),
  path: z.string(),
  /** The request's body, exactly as it goes out. */
  body: z.string(),
  /** What attempts did before; absent when there were none. */
  history: historySchema.exactOptional(),
  /** Attempts of this run that are used up; absent: none. */
  attemptsUsed: z.number().exactOptional(),
});

const policySchema = z.object({
  /** Attempts a row has for failures that may pass, from 1. */
  attempts: z.number(),
  /** Upper bound of the pause after the first failed attempt, in milliseconds; it doubles with each further one. */
  backoffMs: z.number(),
  /** Whether answers are handed over, too. */
  saveAnswers: z.literal(true).exactOptional(),
});

const batchSchema = z.object({ tasks: z.array(taskSchema), policy: policySchema });

const unfinishedSchema = z.object({
  row: z.number(),
  /** Absent when it was never called. */
  history: historySchema.exactOptional(),
  attemptsUsed: z.number(),
});

const leftoverSchema = unfinishedSchema.extend({
  /** When it may be called again, milliseconds from now. */
  delayMs: z.number(),
});

const returnSchema = z.object({
  results: z.array(resultSchema),
  leftovers: z.array(leftoverSchema),
  answers: z.array(answerSchema).exactOptional(),
});

const entrySchema = z.discriminatedUnion('type', [
  /** The worker of that claim, counted from 1, takes the batch over: whoever had it before may call nothing more. */
  z.object({ type: z.literal('begin'), claim: z.number() }),
  /** The coordinator wants the batch back. */
  z.object({ type: z.literal('withdraw') }),
  /** What the worker of that claim is about to call, and what came of earlier calls. */
  z.object({
    type: z.literal('work'),
    claim: z.number(),
    intents: z.array(z.number()).exactOptional(),
    results: z.array(resultSchema).exactOptional(),
    unfinished: z.array(unfinishedSchema).exactOptional(),
    answers: z.array(answerSchema).exactOptional(),
  }),
]);

/** Data that nobody changes. */
type Immutable<T> = T extends readonly (infer Item)[]
  ? readonly Immutable<Item>[]
  : T extends object
    ? { readonly [Name in keyof T]: Immutable<T[Name]> }
    : T;

/** A row as a worker gets it. It holds no token: each worker has its own. */
export type RowTask = Immutable<z.infer<typeof taskSchema>>;
/** How often and after which pauses a failed attempt is repeated. */
export type RetryPolicy = Immutable<z.infer<typeof policySchema>>;
/** Rows of one run that one worker calls, and how. */
export type Batch = Immutable<z.infer<typeof batchSchema>>;
/** A row that was about to be called, and will be again: what its attempts did so far. */
export type Unfinished = Immutable<z.infer<typeof unfinishedSchema>>;
/** A row that a worker hands back, unfinished. */
export type Leftover = Immutable<z.infer<typeof leftoverSchema>>;
/** What a batch has come to: each of its rows is in one of the two. */
export type BatchReturn = Immutable<z.infer<typeof returnSchema>>;
/** One entry of a batch's ledger (`ledger.ts`). */
export type LedgerEntry = Immutable<z.infer<typeof entrySchema>>;

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
  return checked(batchSchema, JSON.parse(text));
}

export function encodeReturn(value: BatchReturn): string {
  return JSON.stringify(value);
}

export function decodeReturn(value: unknown): BatchReturn {
  // The datastores differ in whether they hand back the JSON string or its text.
  const parsed: unknown = JSON.parse(String(value));
  return checked(returnSchema, typeof parsed === 'string' ? JSON.parse(parsed) : parsed);
}

export function encodeLedgerEntry(entry: LedgerEntry): string {
  return JSON.stringify(entry);
}

export function decodeLedgerEntry(text: string): LedgerEntry {
  return checked(entrySchema, JSON.parse(text));
}

/** @throws a TypeError, because only a defect of this program makes a payload that is malformed */
function checked<T>(schema: z.ZodType<T>, value: unknown): T {
  const { success, data, error } = schema.safeParse(value);
  if (success) return data;
  const field = error.issues[0]?.path.findLast((key) => typeof key === 'string');
  throw new TypeError(`Data of a row in the datastore are malformed: ${field ?? typeof value}`);
}

function isTexts(value: unknown): boolean {
  if (!isJsonObject(value)) return false;
  for (const name in value) if (typeof value[name] !== 'string') return false;
  return true;
}
