import type { ApiRequest } from '../api/request.ts';
import { type Method, methods } from '../domain.ts';
import type { Row } from '../operation/row-fields.ts';
import { isJsonObject, jsonLine } from '../text/json.ts';
import { isAbsentOr, isRowNumber, isText, type JsonFields, parseFields } from '../text/json-fields.ts';
import type { RowProblem } from './problem.ts';
import type { CellTexts, DecidedRow, LeftOut, OldValues, PlannedOperation, PlannedRow } from './row.ts';

/**
 * The lines of rows in `rows.jsonl` (described for readers in docs/report.md). Each is a JSON object; what is absent is left out,
 * and method and path where the operation in the head has them.
 */

/** An operation of the head, as lines refer to it. */
export interface LineOperation {
  readonly operation: PlannedOperation;
  readonly method?: Method | undefined;
  readonly path?: string | undefined;
}

/**
 * One object for each kind of row: a million rows are planned in half the time that copies of objects take.
 *
 * @param op index of its operation in the head, where it has one
 */
export function encodeRow(
  decided: DecidedRow,
  cells: CellTexts,
  op: number | undefined,
  usual: Partial<LineOperation> = {},
): string {
  const { row, line } = decided;
  if (decided.kind === 'invalid') return jsonLine({ row, line, cells, op, problems: decided.problems });
  const { old } = decided;
  const values = textsOf(decided);
  if (decided.kind === 'left out')
    return jsonLine({ row, line, cells, op, values, old, not: decided.because });
  const { request, unclear } = decided;
  const { method: called = 'POST', path: to, body } = request;
  const method = called === usual.method ? undefined : called;
  const path = to === usual.path ? undefined : to;
  return jsonLine({ row, line, cells, op, values, old, method, path, body, unclear });
}

function textsOf({ operation, values }: Exclude<DecidedRow, { kind: 'invalid' }>): CellTexts {
  const texts: (string | null)[] = [];
  for (const { name } of operation.fields) texts.push(values[name] ?? null);
  return texts;
}

/**
 * Reads a line, given without its line end.
 *
 * @returns undefined when it is not such a line
 */
export function decodeRow(
  line: string,
  place: number,
  operations: readonly LineOperation[],
): PlannedRow | undefined {
  const fields = parseFields(line);
  if (fields === undefined) return undefined;
  const { row, line: at, cells, op, problems } = fields;
  if (!isRowNumber(row) || !isRowNumber(at) || !isTexts(cells)) return undefined;
  const known = typeof op === 'number' ? operations[op] : undefined;
  if (known === undefined && op !== undefined) return undefined;
  const given = { place, row, line: at, cells };
  if (problems !== undefined) {
    if (!isProblems(problems)) return undefined;
    const operation = known === undefined ? {} : { operation: known.operation };
    return { ...given, kind: 'invalid', ...operation, problems };
  }
  if (known === undefined) return undefined;
  const { operation } = known;
  const { values: texts, old, not } = fields;
  if (!isTexts(texts) || texts.length !== operation.fields.length || !isAbsentOr(isOldValues, old))
    return undefined;
  const values = valuesOf(operation, texts);
  const subject = values[operation.subject] ?? '';
  const understood = { ...given, operation, subject, values, ...(old !== undefined && { old }) };
  if (not !== undefined)
    return isLeftOut(not) ? { ...understood, kind: 'left out', because: not } : undefined;
  const { unclear } = fields;
  const request = requestIn(fields, known);
  if (request === undefined || (unclear !== undefined && unclear !== true)) return undefined;
  return { ...understood, kind: 'callable', request, ...(unclear && { unclear }) };
}

function requestIn({ method, path, body }: JsonFields, known: LineOperation): ApiRequest | undefined {
  const [theMethod, thePath] = [method ?? known.method, path ?? known.path];
  if (!isMethod(theMethod) || !isText(thePath) || !isText(body)) return undefined;
  return { ...(theMethod !== 'POST' && { method: theMethod }), path: thePath, body };
}

function valuesOf({ fields }: PlannedOperation, texts: CellTexts): Row {
  const values: Record<string, string> = {};
  for (const [index, { name }] of fields.entries()) {
    const text = texts[index] ?? null;
    if (text !== null) values[name] = text;
  }
  return values;
}

function isMethod(value: unknown): value is Method {
  return (methods as readonly unknown[]).includes(value);
}

function isTexts(value: unknown): value is CellTexts {
  return Array.isArray(value) && value.every((each) => each === null || isText(each));
}

function isOldValues(value: unknown): value is OldValues {
  return isJsonObject(value) && Object.values(value).every(isText);
}

function isProblems(value: unknown): value is readonly RowProblem[] {
  return Array.isArray(value) && value.length > 0 && value.every(isProblem);
}

function isProblem(value: unknown): boolean {
  return isJsonObject(value) && isText(value['problem']) && Object.values(value).every(isText);
}

function isLeftOut(value: unknown): value is LeftOut {
  if (!isJsonObject(value)) return false;
  const { why, of, by, before } = value;
  if (why === 'duplicate') return isRowNumber(of);
  if (why === 'superseded') return isRowNumber(by);
  return why === 'done' && isJsonObject(before) && isText(before['source']) && isRowNumber(before['row']);
}
