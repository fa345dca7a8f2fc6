import { z } from 'zod';
import { isJsonObject, jsonLine } from '../../base/text/json.ts';
import { lineReader, rowNumberSchema } from '../../base/text/json-line.ts';
import {
  type Attempt,
  attemptMembers,
  historyMembers,
  historySchema,
  type Members,
  type RowResult,
  resultMembers,
  resultSchema,
} from '../../domain/row-result.ts';

/**
 * One entry for each line:
 *
 * - `row`: a row is finished. The first result counts; later ones are ignored.
 * - `fed`: rows `first` to `last` are about to be handed to the datastore, in the epoch `to`, as a part of `batch`.
 * - `added`: the datastore has said that it has them. Without it, they may never have arrived.
 * - `returned`: the datastore holds them no more. What is known of their calls is in earlier entries.
 * - `open`: an unfinished row and what its attempts did, written when a run is stopped or recovered. The latest counts.
 * - `settled`: every row fed before is finished, described by `open`, or was never called; the datastore holds nothing of this run.
 * - `accepted`: a user resumes the run after a guard has halted it. The guards count from here.
 */
const entrySchema = z.discriminatedUnion('type', [
  z.object({ type: z.literal('row'), result: resultSchema }),
  z.object({
    type: z.literal('fed'),
    first: rowNumberSchema,
    last: rowNumberSchema,
    batch: z.string(),
    to: z.string().exactOptional(),
  }),
  z.object({ type: z.literal('added'), first: rowNumberSchema, last: rowNumberSchema }),
  z.object({ type: z.literal('returned'), first: rowNumberSchema, last: rowNumberSchema }),
  z.object({ type: z.literal('open'), row: rowNumberSchema, history: historySchema }),
  z.object({ type: z.literal('settled') }),
  z.object({ type: z.literal('accepted') }),
]);

type DecodedEntry = Readonly<z.infer<typeof entrySchema>>;

/** The entry of a finished row. */
export interface ResultEntry {
  readonly type: 'row';
  readonly result: RowResult;
  /** The line of the result, if a worker has encoded it: the journal gets this text. */
  readonly line?: string;
}

export type JournalEntry = Exclude<DecodedEntry, { readonly type: 'row' }> | ResultEntry;

/**
 * The version of the line format (docs/report.md). A line is a JSON object whose first key names its type; keys with an empty, zero or
 * false value are left out.
 */
const journalVersion = 1;

export const lineEnd = 0x0a;

export function encodeHeader(runId: string): string {
  return `${JSON.stringify({ journal: journalVersion, run: runId })}\n`;
}

export type JournalHeader =
  | { readonly kind: 'known'; readonly run: string }
  | { readonly kind: 'unknown-version'; readonly version: number }
  | { readonly kind: 'no-journal' };

const readHeader = lineReader(z.object({ journal: z.number(), run: z.unknown().optional() }));

/** @param line a line without its end */
export function decodeHeader(line: string): JournalHeader {
  const header = readHeader(line);
  if (header === undefined) return { kind: 'no-journal' };
  if (header.journal !== journalVersion) return { kind: 'unknown-version', version: header.journal };
  return typeof header.run === 'string' ? { kind: 'known', run: header.run } : { kind: 'no-journal' };
}

export function encodeEntry(entry: JournalEntry): string {
  if (entry.type === 'row' && entry.line !== undefined) return `${entry.line}\n`;
  return jsonLine(toLine(entry));
}

/** Undefined when a line, without its end, is not an entry of this version. */
export const decodeEntry = lineReader(entrySchema, toEntry);

/**
 * A result as the line of the journal, without its end: its worker encodes it once, and ledger, batch and journal have this text. Its row can
 * be told without decoding.
 */
export interface ResultLine {
  readonly row: number;
  readonly line: string;
}

export function encodeResult(result: RowResult): ResultLine {
  return { row: result.row, line: encodeEntry({ type: 'row', result }).slice(0, -1) };
}

/** How the line of a result begins: with the first member of `resultMembers`. */
const resultStart = /^\{"row":(\d+),/;

/** @returns undefined when the line does not begin like a result */
export function resultLineIn(line: string): ResultLine | undefined {
  const row = resultStart.exec(line)?.[1];
  return row === undefined ? undefined : { row: Number(row), line };
}

/** @returns undefined when the journal could not read the line */
export function decodeResult({ row, line }: ResultLine): ResultEntry | undefined {
  const entry = decodeEntry(line);
  return entry?.type === 'row' && entry.result.row === row
    ? { type: 'row', result: entry.result, line }
    : undefined;
}

function toLine(entry: JournalEntry): object {
  switch (entry.type) {
    case 'row':
      return withShortKeys(entry.result, resultKeys);
    case 'open':
      return { open: entry.row, ...withShortKeys(entry.history, historyKeys) };
    case 'fed':
      return { fed: [entry.first, entry.last], batch: entry.batch, to: entry.to };
    case 'added':
    case 'returned':
      return { [entry.type]: [entry.first, entry.last] };
    case 'settled':
      return { settled: true };
    case 'accepted':
      return { accepted: true };
  }
}

function toEntry(line: unknown): unknown {
  if (!isJsonObject(line)) return undefined;
  const { row, open, fed, batch, added, returned, to } = line;
  if (row !== undefined) return { type: 'row', result: withLongKeys(line, resultKeys) };
  if (open !== undefined) return { type: 'open', row: open, history: withLongKeys(line, historyKeys) };
  if (Array.isArray(fed))
    return { type: 'fed', first: fed[0], last: fed[1], batch, ...(to !== undefined && { to }) };
  if (Array.isArray(added)) return { type: 'added', first: added[0], last: added[1] };
  if (Array.isArray(returned)) return { type: 'returned', first: returned[0], last: returned[1] };
  if (line['settled'] === true) return { type: 'settled' };
  return line['accepted'] === true ? { type: 'accepted' } : undefined;
}

type LineFields = Readonly<Record<string, unknown>>;
/** Members, their short keys and the values that lines leave out, in the order of lines. */
type MemberKeys = readonly { readonly name: string; readonly key: string; readonly usual: unknown }[];

const keysOf = (members: Members): MemberKeys =>
  Object.entries(members).map(([name, { key, usual }]) => ({ name, key, usual }));

const attemptKeys = keysOf(attemptMembers);
const resultKeys = keysOf(resultMembers);
const historyKeys = keysOf(historyMembers);

function withShortKeys(value: object, keys: MemberKeys): object {
  const line: Record<string, unknown> = {};
  for (const { name, key, usual } of keys) {
    const field = (value as LineFields)[name];
    if (field === undefined || field === usual) continue;
    line[key] =
      name === 'earlier' ? (field as Attempt[]).map((each) => withShortKeys(each, attemptKeys)) : field;
  }
  return line;
}

function withLongKeys(line: unknown, keys: MemberKeys): unknown {
  if (!isJsonObject(line)) return line;
  const value: Record<string, unknown> = {};
  for (const { name, key, usual } of keys) {
    const field = line[key] === undefined ? usual : line[key];
    if (field === undefined) continue;
    value[name] =
      name === 'earlier' && Array.isArray(field)
        ? field.map((each) => withLongKeys(each, attemptKeys))
        : field;
  }
  return value;
}
