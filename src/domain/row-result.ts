import { z } from 'zod';
import { rowNumberSchema, textsSchema } from '../base/text/json-line.ts';
import { outcomes } from './terms.ts';

/**
 * What is recorded about rows, once: types, the reader of journals and the keys of their lines come from the members below. A file of its
 * own, because pages need the words of `terms.ts`, but not zod.
 */
export interface Member<Schema extends z.ZodType = z.ZodType> {
  readonly schema: Schema;
  /** The key of the member in lines. */
  readonly key: string;
  /** A value that lines leave out. */
  readonly usual?: unknown;
  /** The column of reports, without the leading `_`. Absent: reports have none, or one that the operation names. */
  readonly column?: string;
}

export type Members = Readonly<Record<string, Member>>;

function member<Schema extends z.ZodType>(
  key: string,
  schema: Schema,
  usual?: z.infer<Schema>,
): Member<Schema> {
  return { key, schema, ...(usual !== undefined && { usual }) };
}

function reported<Of extends Member>(column: string, member: Of): Of {
  return { ...member, column };
}

type Shape<Of extends Members> = { -readonly [Name in keyof Of]: Of[Name]['schema'] };
type DeepReadonly<Value> = Value extends object
  ? { readonly [Name in keyof Value]: DeepReadonly<Value[Name]> }
  : Value;

function objectOf<Of extends Members>(members: Of): z.ZodObject<Shape<Of>> {
  const shape = Object.fromEntries(Object.entries(members).map(([name, { schema }]) => [name, schema]));
  return z.object(shape as Shape<Of>);
}

const text = z.string().exactOptional();
const number = z.number().exactOptional();

export const attemptMembers = {
  /** The start of the attempt, ISO 8601 UTC. */
  at: member('start', text),
  durationMs: member('ms', number),
  code: member('code', text),
  /** The message as one line for display, perhaps cut. */
  message: member('msg', text),
  httpStatus: member('http', number),
  /** The answer's name for the request, if it has one. */
  requestId: member('req', text),
  /** The number of HTTP requests made; absent: 1. */
  requests: member('sent', number),
  /** The number of earlier attempts that are not kept. */
  omitted: member('omitted', number),
};

const attemptSchema = objectOf(attemptMembers);

/** An attempt that did not finish its row. Without a code, nothing is known: its process has died. */
export type Attempt = DeepReadonly<z.infer<typeof attemptSchema>>;

export const resultMembers = {
  /** The number of the row in the manifest, from 1. */
  row: reported('row', member('row', rowNumberSchema)),
  /** The name of the operation. Empty when the row names no known operation. */
  operation: reported('operation', member('op', z.string(), '')),
  outcome: reported('outcome', member('outcome', z.enum(outcomes))),
  /** A stable, upper-case reason: `OK`, `ALREADY_APPLIED`, `NOT_FOUND`, `INVALID_ROW`, … */
  code: reported('code', member('code', z.string())),
  /** A message as one line for display; empty when the code says it all. */
  message: reported('message', member('msg', z.string(), '')),
  httpStatus: reported('http_status', member('http', number)),
  /** The number of HTTP requests made for the row, including refused (429) and unclear ones. */
  attempts: reported('attempts', member('tries', z.number(), 0)),
  /** The number of `attempts` that certainly were not processed, because the API asked to slow down; absent: 0. */
  unprocessed: member('unprocessed', number),
  /** Whether an attempt may have been processed though no usable answer arrived. */
  unclear: reported('unclear', member('unclear', z.boolean(), false)),
  /** The start of the first attempt, ISO 8601 UTC. */
  startedAt: reported('started_at', member('start', text)),
  /** The end of the last attempt, ISO 8601 UTC. */
  finishedAt: reported('finished_at', member('end', text)),
  /** The duration of the last attempt, milliseconds. */
  durationMs: reported('duration_ms', member('ms', number)),
  /** The last answer's name for the request; in reports, the trace id of the row if it has none. */
  requestId: reported('request_id', member('req', text)),
  /** What the operation reports besides, by report column (without the leading `_`). */
  columns: member('cols', textsSchema.exactOptional()),
  /** The attempts before the last; of many, the first and the last of them. */
  earlier: member('earlier', z.array(attemptSchema).exactOptional()),
};

const recordedResultSchema = objectOf(resultMembers);

/** The columns of each report, without the leading `_`, and the members of a result that they show. */
export const resultColumns: readonly (readonly [column: string, member: keyof typeof resultMembers])[] =
  Object.entries<Member>(resultMembers).flatMap(([name, { column }]) =>
    column === undefined ? [] : [[column, name as keyof typeof resultMembers] as const],
  );

/** The final result of a row, as journals have it. */
type RecordedResult = DeepReadonly<z.infer<typeof recordedResultSchema>>;

export const resultSchema: z.ZodType<RecordedResult> = recordedResultSchema;

/** The final result of a row: one line of the journal, one row of the report. */
export interface RowResult extends RecordedResult {
  /** The row that was called in place of this `duplicate`; only in reports. */
  readonly duplicateOf?: number;
}

export type ResultColumns = NonNullable<RowResult['columns']>;

const singledOut = z.object({ refusals: z.number(), /** Rows accepted meanwhile. */ others: z.number() });

/** How often the API refused a row, or failed at it, while it accepted others. */
export type SingledOut = DeepReadonly<z.infer<typeof singledOut>>;

export const historyMembers = {
  attempts: member('tries', z.number(), 0),
  /**
   * Of `attempts`, those that certainly were not processed and do not count: the API asked to slow down (429, 503 with a waiting time, 503
   * that depends on the rate), or refused the token.
   */
  unprocessed: member('unprocessed', z.number(), 0),
  unclear: member('unclear', z.boolean(), false),
  /** How often the API refused the row alone. Absent when it never has, or has accepted a call of the row since. */
  singledOut: member('singledOut', singledOut.exactOptional()),
  /** Successive failures with the same text. Absent when the last attempt ended otherwise. */
  failedAlone: member('failedAlone', singledOut.exactOptional()),
  startedAt: member('start', text),
  /** The code of the last failed attempt. */
  lastCode: member('code', text),
  lastMessage: member('msg', text),
  lastStatus: member('http', number),
  /** The attempts so far: of many, the first and the last. Absent when nothing is known. */
  earlier: member('earlier', z.array(attemptSchema).exactOptional()),
};

const recordedHistorySchema = objectOf(historyMembers);

/** What earlier attempts of an unfinished row did. */
export type AttemptHistory = DeepReadonly<z.infer<typeof recordedHistorySchema>>;

export const historySchema: z.ZodType<AttemptHistory> = recordedHistorySchema;
