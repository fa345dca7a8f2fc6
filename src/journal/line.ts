import { type Attempt, outcomes, type ResultColumns, type RowHistory, type RowResult } from '../domain.ts';
import { isJsonObject, jsonLine } from '../text/json.ts';
import { isAbsentOr, isRowNumber, isText, type JsonFields, parseFields } from '../text/json-fields.ts';

/**
 * The entries of a journal, one per line:
 *
 * - `row`: a row is finished. The first result of a row counts; later ones are ignored.
 * - `fed`: rows `first` to `last` are about to be handed to the datastore, in the epoch named by `to`.
 * - `open`: an unfinished row and what its attempts did, written when a run is stopped or recovered. The latest counts.
 * - `settled`: every row fed before is finished, described by an `open` entry, or was never called; the datastore no longer
 *   holds anything of this run.
 * - `accepted`: a user resumes the run after a guard has halted it. The guards count from here.
 */
export type JournalEntry =
  | { readonly type: 'row'; readonly result: RowResult }
  | { readonly type: 'fed'; readonly first: number; readonly last: number; readonly to?: string }
  | { readonly type: 'open'; readonly row: number; readonly history: RowHistory }
  | { readonly type: 'settled' }
  | { readonly type: 'accepted' };

/**
 * The journal's line format, version 1 (described for readers in docs/report.md). Every line is a JSON object whose first key
 * names its type; keys with an empty, zero or false value are left out.
 */
const version = 1;

/** The byte that ends each line; a line contains no other. */
export const lineEnd = 0x0a;

/** The first line of a journal, with its line end. */
export function encodeHeader(runId: string): string {
  return `${JSON.stringify({ journal: version, run: runId })}\n`;
}

/** The content of a first line: the run that it belongs to, or why it can't be read. */
export type Header =
  | { readonly kind: 'known'; readonly run: string }
  | { readonly kind: 'unknown-version'; readonly version: number }
  | { readonly kind: 'no-journal' };

/** Reads a first line, given without its line end. */
export function decodeHeader(line: string): Header {
  const header = parseFields(line);
  if (typeof header?.['journal'] !== 'number') return { kind: 'no-journal' };
  if (header['journal'] !== version) return { kind: 'unknown-version', version: header['journal'] };
  return isText(header['run']) ? { kind: 'known', run: header['run'] } : { kind: 'no-journal' };
}

export function encodeEntry(entry: JournalEntry): string {
  return jsonLine(toLine(entry));
}

/** Reads a line without its line end; undefined when it is not an entry of this version. */
export function decodeEntry(line: string): JournalEntry | undefined {
  const fields = parseFields(line);
  if (fields === undefined) return undefined;
  if (fields['row'] !== undefined) {
    const result = toResult(fields);
    return result && { type: 'row', result };
  }
  if (fields['open'] !== undefined) {
    const history = toHistory(fields);
    return history && isRowNumber(fields['open'])
      ? { type: 'open', row: fields['open'], history }
      : undefined;
  }
  if (Array.isArray(fields['fed'])) {
    const [first, last] = fields['fed'] as readonly unknown[];
    const { to } = fields;
    if (!isRowNumber(first) || !isRowNumber(last) || !isAbsentOr(isText, to)) return undefined;
    return { type: 'fed', first, last, ...(isText(to) && { to }) };
  }
  if (fields['settled'] === true) return { type: 'settled' };
  return fields['accepted'] === true ? { type: 'accepted' } : undefined;
}

function toLine(entry: JournalEntry): object {
  switch (entry.type) {
    case 'row':
      return {
        row: entry.result.row,
        op: entry.result.operation || undefined,
        outcome: entry.result.outcome,
        code: entry.result.code,
        msg: entry.result.message || undefined,
        http: entry.result.httpStatus,
        tries: entry.result.attempts || undefined,
        unprocessed: entry.result.unprocessed,
        unclear: entry.result.unclear || undefined,
        start: entry.result.startedAt,
        end: entry.result.finishedAt,
        ms: entry.result.durationMs,
        cols: entry.result.columns,
        earlier: entry.result.earlier?.map(toAttemptLine),
      };
    case 'open':
      return {
        open: entry.row,
        tries: entry.history.attempts || undefined,
        unprocessed: entry.history.unprocessed || undefined,
        unclear: entry.history.unclear || undefined,
        alone: entry.history.singledOut && [
          entry.history.singledOut.refusals,
          entry.history.singledOut.others,
        ],
        start: entry.history.startedAt,
        code: entry.history.lastCode,
        msg: entry.history.lastMessage,
        http: entry.history.lastStatus,
        earlier: entry.history.earlier?.map(toAttemptLine),
      };
    case 'fed':
      return { fed: [entry.first, entry.last], to: entry.to };
    case 'settled':
      return { settled: true };
    case 'accepted':
      return { accepted: true };
  }
}

function toAttemptLine({ at, durationMs, code, message, httpStatus, requests, omitted }: Attempt): object {
  return { start: at, ms: durationMs, code, msg: message, http: httpStatus, sent: requests, omitted };
}

type Writable<T> = { -readonly [Key in keyof T]: T[Key] };

function toResult(fields: JsonFields): RowResult | undefined {
  const { row, op = '', outcome, code, msg = '', http, tries = 0, unclear = false } = fields;
  const { start, end, ms, unprocessed, cols } = fields;
  const earlier = toAttempts(fields['earlier']);
  if (!isRowNumber(row) || !isText(op) || !isOutcome(outcome) || !isText(code) || !isText(msg))
    return undefined;
  if (!isNumber(tries) || !isFlag(unclear) || !isAbsentOr(isNumber, http)) return undefined;
  if (!isAbsentOr(isText, start) || !isAbsentOr(isText, end) || !isAbsentOr(isNumber, ms)) return undefined;
  if (!isAbsentOr(isNumber, unprocessed)) return undefined;
  if (!isAbsentOr(isColumns, cols)) return undefined;
  if (earlier === 'malformed') return undefined;

  const result: Writable<RowResult> = {
    row,
    operation: op,
    outcome,
    code,
    message: msg,
    attempts: tries,
    unclear,
  };
  if (unprocessed !== undefined) result.unprocessed = unprocessed;
  if (http !== undefined) result.httpStatus = http;
  if (start !== undefined) result.startedAt = start;
  if (end !== undefined) result.finishedAt = end;
  if (ms !== undefined) result.durationMs = ms;
  if (cols !== undefined) result.columns = cols;
  if (earlier !== undefined) result.earlier = earlier;
  return result;
}

function toHistory(fields: JsonFields): RowHistory | undefined {
  const { tries = 0, unprocessed = 0, unclear = false, start, code, msg, http } = fields;
  if (!isNumber(tries) || !isNumber(unprocessed) || !isFlag(unclear) || !isAbsentOr(isText, start))
    return undefined;
  if (!isAbsentOr(isText, code) || !isAbsentOr(isText, msg) || !isAbsentOr(isNumber, http)) return undefined;
  const earlier = toAttempts(fields['earlier']);
  if (earlier === 'malformed') return undefined;

  const history: Writable<RowHistory> = { attempts: tries, unprocessed, unclear };
  const [refusals, others] = Array.isArray(fields['alone']) ? (fields['alone'] as readonly unknown[]) : [];
  if (isNumber(refusals) && isNumber(others)) history.singledOut = { refusals, others };
  if (start !== undefined) history.startedAt = start;
  if (code !== undefined) history.lastCode = code;
  if (msg !== undefined) history.lastMessage = msg;
  if (http !== undefined) history.lastStatus = http;
  if (earlier !== undefined) history.earlier = earlier;
  return history;
}

function toAttempts(value: unknown): readonly Attempt[] | undefined | 'malformed' {
  if (value === undefined) return undefined;
  if (!Array.isArray(value)) return 'malformed';
  const attempts = value.map(toAttempt).filter((attempt) => attempt !== undefined);
  return attempts.length === value.length ? attempts : 'malformed';
}

function toAttempt(fields: unknown): Attempt | undefined {
  if (!isJsonObject(fields)) return undefined;
  const { start, ms, code, msg, http, sent, omitted } = fields;
  if (!isAbsentOr(isText, start) || !isAbsentOr(isText, code) || !isAbsentOr(isText, msg)) return undefined;
  if (!isAbsentOr(isNumber, ms) || !isAbsentOr(isNumber, http) || !isAbsentOr(isNumber, sent))
    return undefined;
  if (!isAbsentOr(isNumber, omitted)) return undefined;
  return {
    ...(start !== undefined && { at: start }),
    ...(ms !== undefined && { durationMs: ms }),
    ...(code !== undefined && { code }),
    ...(msg !== undefined && { message: msg }),
    ...(http !== undefined && { httpStatus: http }),
    ...(sent !== undefined && { requests: sent }),
    ...(omitted !== undefined && { omitted }),
  };
}

function isNumber(value: unknown): value is number {
  return typeof value === 'number';
}

function isFlag(value: unknown): value is boolean {
  return typeof value === 'boolean';
}

function isOutcome(value: unknown): value is RowResult['outcome'] {
  return (outcomes as readonly unknown[]).includes(value);
}

function isColumns(value: unknown): value is ResultColumns {
  if (!isJsonObject(value)) return false;
  for (const name in value) if (!isText(value[name])) return false;
  return true;
}
