import type { z } from 'zod';
import type { ApiRequest } from '../../api/request.ts';
import { usageError } from '../../errors.ts';
import type { Operation } from '../../operation/operation.ts';
import type { Row } from '../../operation/row-fields.ts';
import type { Manifest, ManifestRow } from '../manifest.ts';
import { excerpt, type RowProblem } from '../problem.ts';
import { type ColumnMap, type FieldNamer, fieldNamer } from './column-map.ts';
import {
  CellMatcher,
  type Clash,
  fieldNameOf,
  fieldNames,
  knownNames,
  refuseAmbiguousColumns,
} from './column-names.ts';
import { checkOldValues, type OldValues, oldNameOf, oldNames, pickOldValues } from './old-values.ts';
import {
  chooseOperation,
  findByLooseName,
  findRowOperation,
  type OperationChoice,
} from './operation-choice.ts';

/** A row that can be called. */
export interface CallableRow {
  readonly kind: 'callable';
  readonly row: number;
  readonly line: number;
  readonly operation: Operation;
  /** Identifier of the thing that the row acts on. */
  readonly subject: string;
  readonly request: ApiRequest;
  /** Its fields as they are sent, by name; those that it leaves out are absent. */
  readonly values: Row;
  /** What the row says that fields were before, by the name of the field; absent when it says nothing. Never sent. */
  readonly old?: OldValues;
  /** A field whose text is sent with blanks around it, which most likely nobody meant. */
  readonly padded?: string;
}

/** A row that must not be called. */
export interface InvalidRow {
  readonly kind: 'invalid';
  readonly row: number;
  readonly line: number;
  /** When the row says a known one. */
  readonly operation?: Operation;
  /** At least one. */
  readonly problems: readonly RowProblem[];
}

export type PreparedRow = CallableRow | InvalidRow;

/** Turns a row into the call to be made, or says why it cannot. The same row always gives the same. */
export interface RowPreparer {
  (row: ManifestRow): PreparedRow;
  /** How the operation of the rows is known. */
  readonly choice: OperationChoice;
  /** The operations that rows may be for. */
  readonly operations: readonly Operation[];
  /** Field name to the value of rows that leave it out, from `--default` or the manifest's own `defaults`. */
  readonly defaults: ReadonlyMap<string, unknown>;
  /** What a column stands for, whether it is a field or not. */
  readonly fieldOf: FieldNamer;
  /** The names that mean something. */
  readonly known: ReadonlySet<string>;
  /** What the user says that columns stand for. */
  readonly map?: ColumnMap;
}

export interface PreparerOptions {
  readonly manifest: Pick<
    Manifest,
    'name' | 'format' | 'operation' | 'defaults' | 'columns' | 'readable' | 'nestedRows' | 'lettersOf'
  >;
  /** `--operation`: what rows are for that do not say it; a row that says another is invalid. */
  readonly operation?: string | undefined;
  /** `--default`: fields and their values in rows that leave them out; they go before the manifest's `defaults`. */
  readonly defaults?: Readonly<Record<string, string>> | undefined;
  /** `--map`: what columns stand for whose titles don't say it. */
  readonly map?: ColumnMap | undefined;
  readonly operations: readonly Operation[];
}

/**
 * Makes the preparer for the rows of one manifest.
 *
 * @throws CqbatchError (`usage`) when the operation cannot be told, two columns of delimited text stand for the same
 *   field, or a default or `--map` is for no field.
 */
export function createRowPreparer(options: PreparerOptions): RowPreparer {
  const { manifest, map, operations } = options;
  const fieldOf = fieldNamer(map, operations);
  const defaults = readDefaults(manifest, options.defaults, operations);
  const choice = chooseOperation({
    manifest,
    option: options.operation,
    givenFields: [...defaults.keys()],
    operations,
    fieldOf,
  });
  const mayBeUsed = operations.filter(({ name }) => choice.source === 'column' || choice.name === name);
  refuseAmbiguousColumns(manifest, mayBeUsed, fieldOf);

  const known = knownNames(operations);
  const matcher = new CellMatcher(known, fieldOf);
  const shapes = new Map(
    operations.map((operation) => [
      operation,
      { shape: shapeOf(operation, defaults), old: oldNames(operation) },
    ]),
  );
  const rules = {
    operations,
    required: find(options.operation, operations),
    fallback: find(choice.name, operations),
  };

  const prepare = (row: ManifestRow): PreparedRow => {
    const { given, clashes } = matcher.match(row.cells);
    const found = findRowOperation(given['operation'], rules);
    const { row: number, line } = row;
    const invalid = (...problems: readonly RowProblem[]): InvalidRow => ({
      kind: 'invalid',
      row: number,
      line,
      ...(found.operation !== undefined && { operation: found.operation }),
      problems: problems.map((problem) => located(problem, manifest)),
    });
    const column = (name: string) =>
      matcher.columnOf(name, Object.keys(row.cells)) ?? matcher.columnOf(name, manifest.columns()) ?? name;

    if (row.problem !== undefined) return invalid(row.problem);
    if (!found.ok) return invalid({ column: column('operation'), ...found.problem });
    const { shape, old } = shapes.get(found.operation) ?? noShape;
    const matters = (name: string): boolean =>
      shape.some((field) => field.name === name) || old.includes(name);
    const relevant = clashes.filter(({ name }) => name === 'operation' || matters(name));
    if (relevant.length > 0) return invalid(...relevant.map(explainClash));
    const unusable = unusableCells(row, matters, fieldOf);
    if (unusable.length > 0) return invalid(...unusable);
    const fields = pickFields(given, shape);
    const parsed = found.operation.schema.safeParse(fields);
    if (!parsed.success)
      return invalid(...parsed.error.issues.map((issue) => explainIssue(issue, fields, column)));
    const callable = callableRow(row, found.operation, parsed.data);
    const before = pickOldValues(given, old);
    if (before === undefined) return callable;
    const checked = checkOldValues(found.operation, fields, before);
    if (checked.success) return { ...callable, old: onlyNamed(before, checked.data) };
    return invalid(
      ...checked.error.issues.map((issue) => explainIssue(issue, before, (name) => column(oldNameOf(name)))),
    );
  };
  return Object.assign(prepare, {
    choice,
    operations: mayBeUsed,
    defaults,
    fieldOf,
    known,
    ...(map && { map }),
  });
}

/** The fields of an operation, with the values for rows that leave them out. */
type Shape = readonly { readonly name: string; readonly byDefault: unknown }[];

function shapeOf(operation: Operation, defaults: ReadonlyMap<string, unknown>): Shape {
  return fieldNames(operation).map((name) => ({ name, byDefault: defaults.get(name) }));
}

const noShape = { shape: [], old: [] };

/** Those of the values in `data` that `names` has, too. */
function onlyNamed(names: OldValues, data: unknown): OldValues {
  return Object.fromEntries(Object.entries(data ?? {}).filter(([name]) => name in names));
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

function callableRow({ row, line }: ManifestRow, operation: Operation, values: Row): CallableRow {
  return {
    kind: 'callable',
    row,
    line,
    operation,
    subject: values[operation.subject] ?? '',
    request: operation.request(values),
    values,
    ...paddedField(values),
  };
}

function paddedField(values: Row): Pick<CallableRow, 'padded'> {
  const padded = Object.keys(values).find((field) => values[field] !== values[field]?.trim());
  return padded === undefined ? {} : { padded };
}

/** Problems of cells that hold fields. */
function unusableCells(
  { cells, cellProblems = {} }: ManifestRow,
  isField: (name: string) => boolean,
  fieldOf: FieldNamer,
): readonly RowProblem[] {
  return Object.entries(cellProblems)
    .filter(([column]) => isField(fieldOf(column)))
    .map(([column, problem]) => {
      const value = excerpt(cells[column]);
      return { column, problem, ...(value !== '' && { value }) };
    });
}

/** The problem with the letters of its column, in a workbook. */
function located(problem: RowProblem, { lettersOf }: Pick<Manifest, 'lettersOf'>): RowProblem {
  const letters = problem.column === undefined ? undefined : lettersOf?.(problem.column);
  return letters === undefined ? problem : { ...problem, letters };
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

/**
 * Values for fields that rows leave out: those of the user, then those of the manifest.
 *
 * @throws CqbatchError (`usage`) when one is for no field of any operation.
 */
function readDefaults(
  manifest: Pick<Manifest, 'name' | 'defaults'>,
  given: PreparerOptions['defaults'],
  operations: readonly Operation[],
): ReadonlyMap<string, unknown> {
  const known = new Set(operations.flatMap(fieldNames));
  const values = new Map<string, unknown>();
  for (const [field, value] of Object.entries(manifest.defaults ?? {})) {
    if (!known.has(field)) {
      throw usageError(
        'MANIFEST_DEFAULTS',
        `${manifest.name}: "defaults": ${excerpt(field)} is no field of any operation; rename or delete it`,
      );
    }
    values.set(field, value);
  }
  for (const [name, value] of Object.entries(given ?? {})) {
    const field = fieldNameOf(name);
    if (!known.has(field)) {
      throw usageError(
        'DEFAULT_UNKNOWN_FIELD',
        `--default "${name}=${excerpt(value)}": ${excerpt(name)} is no field; known are ${[...known].join(', ')}`,
      );
    }
    values.set(field, value);
  }
  return values;
}
