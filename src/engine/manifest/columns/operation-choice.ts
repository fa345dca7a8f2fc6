import type { ErrorCode } from '../../../base/errors/error-codes.ts';
import { type CqbatchError, usageError } from '../../../base/errors/errors.ts';
import { fieldNameOf, knownNames, requiredNames } from '../../operation/field-names.ts';
import type { Operation } from '../../operation/operation.ts';
import { excerpt, type RowProblem } from '../../rows/problem.ts';
import { joiningCommand, rowsAtOption } from '../json/page.ts';
import type { Manifest } from '../manifest.ts';
import { defaultOption, likelyColumns, mapOption } from './column-advice.ts';
import type { FieldNamer } from './column-names.ts';

export type OperationChoice =
  /** A column names the operation of each row. `name` is for rows that leave the column empty. */
  | { readonly source: 'column'; readonly name?: string }
  /** All rows have one operation. If it is `inferred`, it is the only one that fits the columns. */
  | { readonly source: 'option' | 'manifest' | 'inferred'; readonly name: string }
  /** No operation is needed, because no row could be read. */
  | { readonly source: 'none'; readonly name?: never };

export interface ChoiceFacts {
  readonly manifest: Pick<
    Manifest,
    'name' | 'operation' | 'columns' | 'readable' | 'sample' | 'nestedRows' | 'sheet'
  >;
  readonly option: string | undefined;
  /** Fields that have a value, such as from `--default`, but no column. */
  readonly givenFields: Iterable<string>;
  readonly operations: readonly Operation[];
  readonly fieldOf: FieldNamer;
}

/** Chooses the operation of the rows. @throws CqbatchError (`usage`) when the operation is unknown or contradictory */
export function chooseOperation(facts: ChoiceFacts): OperationChoice {
  const { manifest, option, operations } = facts;
  const find = (text: string | undefined, code: ErrorCode, what: string): string | undefined => {
    const operation = findByLooseName(text, operations);
    if (text === undefined || operation !== undefined) return operation?.name;
    throw usageError(code, `${what} unknown; use one of ${nameList(operations)}`);
  };
  const byOption = find(option, 'UNKNOWN_OPERATION', `--operation ${option}:`);
  const what = `${manifest.name}: "operation": "${manifest.operation}" is`;
  const byManifest = find(manifest.operation, 'MANIFEST_UNKNOWN_OPERATION', what);
  if (byOption !== undefined && byManifest !== undefined && byOption !== byManifest) {
    throw usageError(
      'MANIFEST_OPERATION_MISMATCH',
      `${manifest.name} says it is for ${byManifest}, --operation says ${byOption}; remove one of them`,
    );
  }
  const columns = manifest.columns();
  const name = byOption ?? byManifest;
  if (columns.some((column) => facts.fieldOf(column) === 'operation'))
    return { source: 'column', ...(name !== undefined && { name }) };
  if (name !== undefined) return { source: byOption === undefined ? 'manifest' : 'option', name };
  // The problem of each row explains more than missing columns would.
  if (!manifest.readable && columns.length === 0) return { source: 'none' };
  return { source: 'inferred', name: inferOperation(facts) };
}

function nameList(operations: readonly Operation[]): string {
  return operations.map(({ name }) => name).join(', ');
}

export function findByLooseName(
  text: string | undefined,
  operations: readonly Operation[],
): Operation | undefined {
  if (text === undefined) return undefined;
  const exact = operations.find(({ name }) => name === text);
  if (exact !== undefined) return exact;
  const meant = fieldNameOf(text).replaceAll('_', '-');
  return operations.find(({ name }) => name === meant);
}

const shownColumns = 12;

/**
 * The only operation whose required fields all have a column or a value.
 *
 * @throws CqbatchError (`usage`, `MANIFEST_OPERATION_UNCLEAR`) with what to add
 */
function inferOperation({ manifest, givenFields, operations, fieldOf }: ChoiceFacts): string {
  const columns = manifest.columns();
  const present = new Set([...columns.map(fieldOf), ...givenFields]);
  const lackOf = (operation: Operation) => requiredNames(operation).filter((name) => !present.has(name));
  const suitable = operations.filter((operation) => lackOf(operation).length === 0);
  const [only, ...others] = suitable;
  if (only !== undefined && others.length === 0) return only.name;

  const { nestedRows } = manifest;
  if (nestedRows !== undefined) throw rowsInside(manifest.name, nestedRows);
  // A column that fits a built-in operation may hold a field of the user's own operation: "User ID".
  const unusedBy = ({ module }: Operation) => {
    const known = knownNames(operations.filter((other) => other.module === module));
    return columns.filter((column) => !known.has(fieldOf(column)));
  };
  const lacks = operations.map(
    (each) => `for ${each.name}, ${describeMissing(lackOf(each), each, unusedBy(each), manifest)}`,
  );
  const verdict = only === undefined ? lacks.join('; ') : `the columns fit ${nameList(suitable)}`;
  throw usageError(
    'MANIFEST_OPERATION_UNCLEAR',
    `${manifest.name}: can't tell what to do with ${columns.length === 0 ? 'rows that have no columns' : `the columns ${columnList(columns)}`}: ${verdict}. ` +
      `${only === undefined ? 'Add what is missing' : 'Pass --operation'}, or add a column "operation"${otherSheets(manifest)}`,
  );
}

function rowsInside(name: string, { path, isRepeated }: NonNullable<Manifest['nestedRows']>): CqbatchError {
  const problem = isRepeated
    ? `each line seems to be a page with its rows in "${excerpt(path)}"; make one array of them: ${joiningCommand(path.split('.'))}`
    : `the rows seem to be in "${excerpt(path)}"; pass ${rowsAtOption(path)}`;
  return usageError('MANIFEST_OPERATION_UNCLEAR', `${name}: ${problem}`);
}

/** Advice to choose another sheet: the first one of a workbook is often an overview. */
function otherSheets({ sheet }: ChoiceFacts['manifest']): string {
  if (sheet === undefined || sheet.others.length === 0) return '';
  return `. This is the sheet "${excerpt(sheet.name)}"; choose another one with --sheet: ${columnList(sheet.others)}`;
}

function describeMissing(
  missing: readonly string[],
  { fields, subject }: Operation,
  unused: readonly string[],
  { sample }: Pick<Manifest, 'sample'>,
): string {
  const likely = likelyColumns(
    fields.filter(({ name }) => missing.includes(name)),
    unused,
    { subject, sample },
  );
  const described = missing.map((name) => {
    const column = likely.get(name);
    const field = fields.find((each) => each.name === name);
    const remedies: string[] = [];
    // `--default` is the first remedy, because even a likely column may name another person.
    if (field !== undefined && name !== subject)
      remedies.push(`${defaultOption(field)} gives it for all rows`);
    if (column !== undefined) remedies.push(`if it is "${excerpt(column)}", pass ${mapOption(column, name)}`);
    return `${name} is missing${remedies.length === 0 ? '' : ` (${remedies.join('; ')})`}`;
  });
  return described.join(' and ');
}

function columnList(columns: readonly string[]): string {
  const shown = columns.slice(0, shownColumns).map((column) => `"${excerpt(column)}"`);
  return columns.length > shownColumns ? `${shown.join(', ')}, …` : shown.join(', ');
}

/** The operation of a row. With a problem, `operation` is a known one that the row must not use here. */
export type RowOperation =
  | { readonly ok: true; readonly operation: Operation }
  | { readonly ok: false; readonly operation?: Operation; readonly problem: RowProblem };

export interface OperationRules {
  readonly operations: readonly Operation[];
  /** The operation of `--operation`. Rows must not name another one. */
  readonly required: Operation | undefined;
  readonly fallback: Operation | undefined;
}

export function findRowOperation(cell: unknown, rules: OperationRules): RowOperation {
  const { operations, required, fallback } = rules;
  if (cell === undefined || cell === '') {
    if (fallback !== undefined) return { ok: true, operation: fallback };
    return { ok: false, problem: { problem: `is missing; name one of ${nameList(operations)}` } };
  }
  const value = excerpt(cell);
  const operation = typeof cell === 'string' ? findByLooseName(cell, operations) : undefined;
  if (operation === undefined) {
    const problem = `is unknown; name one of ${nameList(operations)}, or pass --operations with its module`;
    return { ok: false, problem: { problem, value } };
  }
  if (required !== undefined && operation !== required) {
    return { ok: false, operation, problem: { problem: `differs from --operation ${required.name}`, value } };
  }
  return { ok: true, operation };
}
