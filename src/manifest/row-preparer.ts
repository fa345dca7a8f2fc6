import type { z } from 'zod';
import { operations as allOperations } from '../../jobs/index.ts';
import type { Operation } from '../../jobs/operation.ts';
import { excerpt } from './excerpt.ts';
import type { Manifest } from './manifest.ts';
import { chooseOperation, findByLooseName, type OperationChoice } from './operation-choice.ts';
import { CellMatcher, type Clash } from './prepare/cell-matcher.ts';
import { readDefaults, refuseAmbiguousColumns } from './prepare/defaults.ts';
import { findRowOperation } from './prepare/row-operation.ts';
import type { InvalidRow, ManifestRow, PreparedRow, RowProblem } from './row.ts';

/** Turns a row into the call to be made, or says why it cannot. The same row always gives the same. */
export interface RowPreparer {
  (row: ManifestRow): PreparedRow;
  /** How the operation of the rows is known. */
  readonly choice: OperationChoice;
  /** The operations that rows may be for. */
  readonly operations: readonly Operation[];
}

export interface PreparerOptions {
  readonly manifest: Pick<Manifest, 'name' | 'format' | 'operation' | 'defaults' | 'columns' | 'readable'>;
  /** `--operation`: what rows are for that do not say it; a row that says another is invalid. */
  readonly operation?: string | undefined;
  /** `--user-id`: for rows that leave out `user_id`; goes before the manifest's `defaults`. */
  readonly userId?: string | undefined;
  /** Default is all of `jobs/`. */
  readonly operations?: readonly Operation[];
}

/**
 * Makes the preparer for the rows of one manifest.
 *
 * @throws CqbatchError (`usage`) when the operation cannot be told, two columns of delimited text stand for the same
 *   field, or a default is for no field.
 */
export function createRowPreparer(options: PreparerOptions): RowPreparer {
  const { manifest, operations = allOperations } = options;
  const defaults = readDefaults(manifest, options.userId, operations);
  const choice = chooseOperation({
    name: manifest.name,
    columns: manifest.columns(),
    readable: manifest.readable,
    manifestOperation: manifest.operation,
    optionOperation: options.operation,
    givenFields: new Set(defaults.keys()),
    operations,
  });
  const mayBeUsed = operations.filter(({ name }) => choice.source === 'column' || choice.name === name);
  refuseAmbiguousColumns(manifest, mayBeUsed);

  const matcher = new CellMatcher(new Set(['operation', ...operations.flatMap(fieldNames)]));
  const shapes = new Map(operations.map((operation) => [operation, shapeOf(operation, defaults)]));
  const rules = {
    operations,
    required: find(options.operation, operations),
    fallback: find(choice.name, operations),
  };

  const prepare = (row: ManifestRow): PreparedRow => {
    const { given, clashes } = matcher.match(row.cells);
    const found = findRowOperation(given['operation'], rules);
    const invalid = (...problems: readonly RowProblem[]) => invalidRow(row, found.operation, problems);
    const column = (name: string) =>
      matcher.columnOf(name, Object.keys(row.cells)) ?? matcher.columnOf(name, manifest.columns()) ?? name;

    if (row.problem !== undefined) return invalid(row.problem);
    if (!found.ok) return invalid({ column: column('operation'), ...found.problem });
    const shape = shapes.get(found.operation) ?? [];
    const relevant = clashes.filter(
      ({ name }) => name === 'operation' || shape.some((field) => field.name === name),
    );
    if (relevant.length > 0) return invalid(...relevant.map(explainClash));
    const fields = pickFields(given, shape);
    const parsed = found.operation.schema.safeParse(fields);
    if (parsed.success) return callableRow(row, found.operation, parsed.data);
    return invalid(...parsed.error.issues.map((issue) => explainIssue(issue, fields, column)));
  };
  return Object.assign(prepare, { choice, operations: mayBeUsed });
}

/** The fields of an operation, with the values for rows that leave them out. */
type Shape = readonly { readonly name: string; readonly byDefault: unknown }[];

function shapeOf(operation: Operation, defaults: ReadonlyMap<string, unknown>): Shape {
  return fieldNames(operation).map((name) => ({ name, byDefault: defaults.get(name) }));
}

function fieldNames({ fields }: Operation): readonly string[] {
  return fields.map(({ name }) => name);
}

function find(name: string | undefined, operations: readonly Operation[]): Operation | undefined {
  return name === undefined ? undefined : findByLooseName(name, operations);
}

function pickFields(
  given: Readonly<Record<string, unknown>>,
  shape: Shape,
): Readonly<Record<string, unknown>> {
  const fields: Record<string, unknown> = {};
  for (const { name, byDefault } of shape) {
    const value = given[name] ?? byDefault;
    if (value !== undefined) fields[name] = value;
  }
  return fields;
}

function callableRow({ row, line }: ManifestRow, operation: Operation, data: unknown): PreparedRow {
  return {
    kind: 'callable',
    row,
    line,
    operation,
    subject: operation.subject(data),
    request: operation.request(data),
    partial: operation.isPartial(data),
  };
}

function invalidRow(
  { row, line }: ManifestRow,
  operation: Operation | undefined,
  problems: readonly RowProblem[],
): InvalidRow {
  return {
    kind: 'invalid',
    row,
    line,
    ...(operation !== undefined && { operation: operation.name }),
    problems,
  };
}

function explainClash({ name, column }: Clash): RowProblem {
  return { column, problem: `another column gives ${name} as well; keep one of them` };
}

function explainIssue(
  { path: [field], message }: z.core.$ZodIssue,
  fields: Readonly<Record<string, unknown>>,
  column: (name: string) => string,
): RowProblem {
  if (typeof field !== 'string') return { problem: message };
  const value = fields[field];
  const shown = value === undefined || value === '' ? {} : { value: excerpt(value) };
  return { column: column(field), problem: message, ...shown };
}
