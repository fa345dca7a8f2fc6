import { z } from 'zod';
import type { RowHistory, RowResult } from '../domain.ts';
import { outcomes } from '../domain.ts';
import { fatalError } from '../errors.ts';

/**
 * What goes through the datastore. Every payload is JSON text inside one string: the text escapes NUL and lone
 * surrogates, which PostgreSQL's `jsonb` refuses, so whatever a manifest or an API says comes back exactly.
 */

/** Version of the payloads; a worker refuses rows of a version that it does not know. */
const payloadVersion = 1;

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
  /** How often a worker has taken the row and said in `history` what came of it. */
  readonly accountedClaims: number;
}

/** Data of a row's job: an envelope that every version understands around a text that may not. */
export interface RowJobData {
  readonly v: number;
  /** `accountedClaims`. It is outside of the text so that a worker which can't read that can still account for itself. */
  readonly claims: number;
  readonly text: string;
}

const historySchema = z.object({
  attempts: z.number(),
  unprocessed: z.number(),
  unclear: z.boolean(),
  startedAt: z.string().exactOptional(),
  lastCode: z.string().exactOptional(),
  lastMessage: z.string().exactOptional(),
  lastStatus: z.number().exactOptional(),
}) satisfies z.ZodType<RowHistory>;

const taskSchema = z.object({
  run: z.string(),
  row: z.number(),
  operation: z.string(),
  subject: z.string(),
  path: z.string(),
  body: z.string(),
  history: historySchema.exactOptional(),
}) satisfies z.ZodType<Omit<RowTask, 'accountedClaims'>>;

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
  columns: z.record(z.string(), z.string()).exactOptional(),
}) satisfies z.ZodType<RowResult>;

export function encodeTask({ accountedClaims, ...task }: RowTask): RowJobData {
  return { v: payloadVersion, claims: accountedClaims, text: JSON.stringify(task) };
}

/** @throws a fatal error `UNKNOWN_PAYLOAD` when another version of the program wrote it. */
export function decodeTask(data: unknown): RowTask {
  const { v, claims, text } = data as Partial<RowJobData>;
  if (v !== payloadVersion || typeof claims !== 'number' || typeof text !== 'string') {
    throw fatalError(
      'UNKNOWN_PAYLOAD',
      `A row in the datastore has data of version ${String(v)}; this program knows version ${payloadVersion}. ` +
        'Use the version of cqbatch that started the run.',
    );
  }
  return { ...taskSchema.parse(JSON.parse(text)), accountedClaims: claims };
}

/** The same data, whatever it says, with this many claims accounted for. */
export function withAccountedClaims(data: RowJobData, claims: number): RowJobData {
  return { ...data, claims };
}

export function encodeResult(result: RowResult): string {
  return JSON.stringify(result);
}

export function decodeResult(value: unknown): RowResult {
  // The datastores differ in whether they hand back the JSON string or its text.
  const text = String(value);
  const parsed: unknown = JSON.parse(text);
  return resultSchema.parse(typeof parsed === 'string' ? JSON.parse(parsed) : parsed);
}
