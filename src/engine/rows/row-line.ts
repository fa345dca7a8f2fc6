import { z } from 'zod';
import { jsonLine } from '../../base/text/json.ts';
import { lineReader, rowNumberSchema, textsSchema } from '../../base/text/json-line.ts';
import type { Row } from '../operation/row-fields.ts';
import type { RowProblem } from './problem.ts';
import type { CallableRow, CellTexts, DecidedRow, LeftOut, PlannedOperation, PlannedRow } from './row.ts';

/** What a reader of lines must know of an operation. */
export interface LineOperation {
  readonly name: string;
  /** The field that names the entry. */
  readonly subject: string;
  /** The fields of the operation, in the order of a line's values. */
  readonly fields: readonly { readonly name: string }[];
}

/**
 * Encodes a row as a line. The members that a call needs come first, and `cells` begins the rest, so that a line can be cut there as text.
 * There is one literal for each kind of row: copies of objects would take twice as long.
 *
 * @param op index of the row's operation in the head
 */
export function encodeRow(decided: DecidedRow, cells: CellTexts, op: number | undefined): string {
  const { row, line } = decided;
  if (decided.kind === 'invalid') return jsonLine({ row, line, op, problems: decided.problems, cells });
  const { old, compared } = decided;
  const values = textsOf(decided);
  if (decided.kind === 'left out')
    return jsonLine({ row, line, op, not: decided.because, compared, values, cells, old });
  const { requestDigest: request, unclear, key } = decided;
  return jsonLine({ row, line, op, request, unclear, key, compared, values, cells, old });
}

function textsOf({ operation, values }: Exclude<DecidedRow, { kind: 'invalid' }>): CellTexts {
  const texts: (string | null)[] = [];
  for (const { name } of operation.fields) texts.push(values[name] ?? null);
  return texts;
}

const cellsSchema = z.array(z.string().nullable());

const problemSchema: z.ZodType<RowProblem> = z.object({
  column: z.string().exactOptional(),
  problem: z.string(),
  value: z.string().exactOptional(),
  letters: z.string().exactOptional(),
});

export const leftOutSchema: z.ZodType<LeftOut> = z.discriminatedUnion('why', [
  z.object({ why: z.literal('duplicate'), of: rowNumberSchema }),
  z.object({ why: z.literal('superseded'), by: rowNumberSchema }),
  z.object({ why: z.literal('as wanted') }),
  z.object({ why: z.literal('done'), before: z.object({ source: z.string(), row: rowNumberSchema }) }),
]);

const lineSchema = z.object({
  row: rowNumberSchema,
  line: rowNumberSchema,
  cells: cellsSchema,
  op: z.number().optional(),
  problems: z.array(problemSchema).min(1).optional(),
  values: cellsSchema.optional(),
  old: textsSchema.optional(),
  compared: z.literal(true).optional(),
  not: leftOutSchema.optional(),
  request: z.string().optional(),
  unclear: z.literal(true).optional(),
  // A key must be as a run makes it: a plan file may come from elsewhere, and the key becomes a header.
  key: z
    .string()
    .regex(/^"[0-9a-f-]{36}"$/)
    .optional(),
});

const readLine = lineReader(lineSchema);

/**
 * @param text the line without its end
 * @returns undefined when the line is not a row of these operations
 */
export function decodeRow(
  text: string,
  place: number,
  operations: readonly PlannedOperation[],
): PlannedRow | undefined {
  const read = readLine(text);
  if (read === undefined) return undefined;
  const { row, line, cells, op, problems, values: texts, old, not, unclear, key } = read;
  const { request: requestDigest, compared } = read;
  const operation = op === undefined ? undefined : operations[op];
  if (operation === undefined && op !== undefined) return undefined;
  const common = { place, row, line, cells };
  if (problems !== undefined) {
    return { ...common, kind: 'invalid', ...(operation && { operation }), problems };
  }
  if (operation === undefined || texts?.length !== operation.fields.length) return undefined;
  const values = valuesOf(operation, texts);
  const subject = values[operation.subject] ?? '';
  const rare = {
    ...(old !== undefined && { old }),
    ...(compared && { compared }),
    ...(unclear && { unclear }),
    ...(key !== undefined && { key }),
  };
  if (not !== undefined)
    return { kind: 'left out', because: not, operation, subject, values, ...rare, ...common };
  if (requestDigest === undefined) return undefined;
  // One literal for a called row: a copy would take twice as long as all the rest.
  const called = {
    kind: 'callable' as const,
    place,
    row,
    line,
    cells,
    operation,
    subject,
    values,
    requestDigest,
  };
  return old === undefined && compared === undefined && unclear === undefined && key === undefined
    ? called
    : { ...rare, ...called };
}

/** A line without what workers do not need: cells and old values. */
export interface CallableLine {
  /** Index of the row's operation in the head. */
  readonly op: number;
  readonly text: string;
}

/** How `encodeRow` begins the line of a callable row, and of no other row. */
const callableStart = /^\{"row":\d+,"line":\d+,"op":(\d+),"request":"/;

/** @returns the index in the head of the operation of a callable row */
export function operationIn(line: string): number | undefined {
  const op = callableStart.exec(line)?.[1];
  return op === undefined ? undefined : Number(op);
}

/** Where the part of a line begins that workers do not need. Only a key is written so: in a text, a quotation mark follows a backslash. */
const startOfUnneededPart = ',"cells":[';

/**
 * Cuts the line of a callable row as text, because each row of a run is fed: decoding would cost more than all else that feeding does.
 *
 * @returns undefined when the line does not begin like that of a callable row: then only `decodeRow` can tell what it is
 */
export function cutCallable(line: string): CallableLine | undefined {
  const op = operationIn(line);
  const end = line.indexOf(startOfUnneededPart);
  if (op === undefined || end < 0) return undefined;
  // A copy, because a part of a text keeps the whole text in memory: hundreds of rows with all their cells.
  return { op, text: Buffer.from(`${line.slice(0, end)}}`).toString() };
}

export type CalledRow = Pick<CallableRow, 'subject' | 'values' | 'requestDigest' | 'key'>;

/** @param text a line cut by `cutCallable`; only this program hands such lines on, so no schema checks the text */
export function decodeCallable(text: string, operation: LineOperation): CalledRow {
  const { values: texts, request, key }: CutMembers = JSON.parse(text);
  const values = valuesOf(operation, texts);
  const subject = values[operation.subject] ?? '';
  return { subject, values, requestDigest: request, ...(key !== undefined && { key }) };
}

interface CutMembers {
  readonly values: CellTexts;
  readonly request: string;
  readonly key?: string;
}

function valuesOf({ fields }: Pick<LineOperation, 'fields'>, texts: CellTexts): Row {
  const values: Record<string, string> = {};
  for (const [index, { name }] of fields.entries()) {
    const text = texts[index] ?? null;
    if (text !== null) values[name] = text;
  }
  return values;
}
