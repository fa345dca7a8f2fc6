import { hasUnsafeInteger } from '../../../base/text/json.ts';
import { fieldNameOf, knownNames, oldNameOf } from '../../operation/field-names.ts';
import { type Operation, operationFailure } from '../../operation/operation.ts';
import type { Field, Row } from '../../operation/row-fields.ts';
import { requestDigest } from '../../operation/shown-request.ts';
import type { RowProblem } from '../../rows/problem.ts';
import type { CallableRow, InvalidRow, OldValues } from '../../rows/row.ts';
import { Cells, type Manifest, type ManifestRow } from '../manifest.ts';
import type { ColumnReading } from './column-advice.ts';
import {
  type FieldNamer,
  fieldNamer,
  readDefaults,
  refuseAmbiguousColumns,
  refuseJoinedTitles,
} from './column-names.ts';
import {
  chooseOperation,
  findByLooseName,
  findRowOperation,
  type OperationChoice,
} from './operation-choice.ts';
import {
  type Clash,
  emptyCell,
  explainClash,
  explainIssue,
  type UnexpectedValue,
  unexpectedProblem,
  unexpectedValues,
  unusableCells,
  withLetters,
} from './row-problems.ts';

export interface PreparedCall extends CallableRow {
  /** The first field whose text has white space around it, which is probably a mistake. */
  readonly paddedField?: string | undefined;
  /** The fields of `--default` for which the row has another value. */
  readonly overriddenDefaults?: readonly string[];
  /** Values that the API most likely does not read. */
  readonly unexpectedValues?: readonly UnexpectedValue[];
  /** Whether the request has a number that a service in JavaScript rounds. */
  readonly mayBeRounded?: true;
}

export type PreparedRow = PreparedCall | InvalidRow;

/** Makes a call of a row, or says why the row is invalid. The same row always gives the same result. */
export interface RowPreparer extends ColumnReading {
  (row: ManifestRow): PreparedRow;
  readonly choice: OperationChoice;
  /** The known names: of the operation, of fields, and of old values. */
  readonly knownNames: ReadonlySet<string>;
}

export interface PreparerOptions {
  readonly manifest: Pick<
    Manifest,
    | 'name'
    | 'hasHeader'
    | 'operation'
    | 'defaults'
    | 'columns'
    | 'readable'
    | 'nestedRows'
    | 'sample'
    | 'delimiter'
    | 'lettersOf'
    | 'sheet'
  >;
  /** The operation of rows that name none. A row that names another one is invalid. */
  readonly operation?: string | undefined;
  /** Values of fields that rows omit; they override the manifest's `defaults`. */
  readonly defaults?: Readonly<Record<string, string>> | undefined;
  readonly map?: ColumnReading['map'];
  readonly operations: readonly Operation[];
  /** Whether a row with a value that the API most likely does not read is invalid. Default: false. */
  readonly strict?: boolean | undefined;
  /** Whether a comparison will complete the rows: they have no request yet, and no digest of it. Default: false. */
  readonly isCompared?: boolean | undefined;
}

/**
 * Makes the function that prepares the rows of a manifest.
 *
 * @throws CqbatchError (`usage`) when the operation is unknown, two columns of delimited text have one field, or a default or `--map` names
 *   an unknown field
 */
export function createRowPreparer(options: PreparerOptions): RowPreparer {
  const { manifest, map, operations, operation: option, strict, isCompared } = options;
  const fieldOf = fieldNamer(map, operations);
  const defaults = readDefaults(manifest, options.defaults, operations);
  refuseJoinedTitles(manifest, operations, fieldOf);
  const { sample } = manifest;
  const choice = chooseOperation({ manifest, option, givenFields: defaults.keys(), operations, fieldOf });
  const mayBeUsed = operations.filter(({ name }) => choice.source === 'column' || choice.name === name);
  refuseAmbiguousColumns(manifest, mayBeUsed, fieldOf);
  const rules = {
    operations,
    required: findByLooseName(option, operations),
    fallback: findByLooseName(choice.name, operations),
  };
  const filled = Object.keys(options.defaults ?? {}).map(fieldNameOf);
  const readings = new Map(operations.map((operation) => [operation, readingOf(operation, defaults)]));

  const prepare = (row: ManifestRow): PreparedRow => {
    const { byName, clashes } = matchCells(row.cells, fieldOf);
    const choiceOfRow = findRowOperation(byName['operation'], rules);
    const invalid = (...problems: readonly RowProblem[]): InvalidRow => ({
      kind: 'invalid',
      row: row.row,
      line: row.line,
      operation: choiceOfRow.operation,
      problems: problems.map((problem) => withLetters(problem, manifest)),
    });
    const columnFor = (name: string): string | undefined =>
      [...Object.keys(row.cells), ...manifest.columns()].find((column) => fieldOf(column) === name);
    const columnOf = (name: string): string => columnFor(name) ?? name;

    if (row.problem !== undefined) return invalid(row.problem);
    if (!choiceOfRow.ok) return invalid({ column: columnOf('operation'), ...choiceOfRow.problem });
    const { operation } = choiceOfRow;
    if (clashes !== undefined || row.cellProblems !== undefined) {
      const names = knownNames([operation]);
      const clashing = (clashes ?? []).filter(({ name }) => names.has(name)).map(explainClash);
      if (clashing.length > 0) return invalid(...clashing);
      const unusable = unusableCells(row, (column) => names.has(fieldOf(column)));
      if (unusable.length > 0) return invalid(...unusable);
    }
    const reading = readings.get(operation) ?? [];
    const fields = pickFields(byName, reading);
    try {
      const parsed = operation.schema.safeParse(fields);
      if (!parsed.success)
        return invalid(
          ...parsed.error.issues.map((issue) =>
            explainIssue(emptyCell(issue, operation, fields, columnFor) ?? issue, fields, columnOf),
          ),
        );
      const own = filled.filter((field) => byName[field] !== undefined);
      const callable = callableRow(row, operation, parsed.data, own, isCompared);
      const oldValues = pickOldValues(byName, reading);
      let old: OldValues | undefined;
      if (oldValues !== undefined) {
        const checked = checkOldValues(operation, fields, oldValues);
        if (!checked.success)
          return invalid(
            ...checked.error.issues.map((issue) =>
              explainIssue(issue, oldValues, (name) => columnOf(oldNameOf(name))),
            ),
          );
        old = onlyNamed(oldValues, checked.data);
      }
      const unexpected = unexpectedValues(reading, parsed.data, old);
      if (strict && unexpected.length > 0)
        return invalid(...unexpected.map((value) => unexpectedProblem(value, columnOf)));
      const decided = old === undefined ? callable : { ...callable, old };
      return unexpected.length === 0 ? decided : { ...decided, unexpectedValues: unexpected };
    } catch (error) {
      return invalid({ problem: operationFailure(operation.name, error) });
    }
  };
  const known = knownNames(operations);
  return Object.assign(prepare, {
    choice,
    operations: mayBeUsed,
    defaults,
    fieldOf,
    knownNames: known,
    map,
    filled,
    sample,
  });
}

/** The fields and cells of a row by name. Absent and null cells count as omitted. */
function matchCells(
  cells: ManifestRow['cells'],
  fieldOf: FieldNamer,
): { readonly byName: ManifestRow['cells']; readonly clashes: readonly Clash[] | undefined } {
  const byName = new Cells();
  let clashes: Clash[] | undefined;
  for (const column in cells) {
    const value = cells[column];
    if (value === undefined || value === null) continue;
    const name = fieldOf(column);
    if (byName[name] === undefined) byName[name] = value;
    else {
      clashes ??= [];
      clashes.push({ name, column });
    }
  }
  return { byName, clashes };
}

interface FieldReading {
  readonly name: string;
  readonly oldName: string | undefined;
  readonly byDefault: unknown;
  readonly expectation: Field['expectation'];
}

function readingOf({ fields }: Operation, defaults: ReadonlyMap<string, unknown>): readonly FieldReading[] {
  return fields.map(({ name, undoable, expectation }) => {
    const oldName = undoable ? oldNameOf(name) : undefined;
    return { name, oldName, byDefault: defaults.get(name), expectation };
  });
}

function pickFields(byName: ManifestRow['cells'], fields: readonly FieldReading[]): ManifestRow['cells'] {
  const values: Record<string, unknown> = {};
  for (const { name, byDefault } of fields) {
    const value = byName[name] ?? byDefault;
    if (value !== undefined) values[name] = value;
  }
  return values;
}

function pickOldValues(
  byName: ManifestRow['cells'],
  fields: readonly FieldReading[],
): Readonly<Record<string, unknown>> | undefined {
  let old: Record<string, unknown> | undefined;
  for (const { name, oldName } of fields) {
    const value = oldName === undefined ? undefined : byName[oldName];
    if (value === undefined) continue;
    old ??= {};
    old[name] = value;
  }
  return old;
}

/** Checks old values as if a row sent them, so that an undo can't be refused for them. */
function checkOldValues(
  { schema, fields }: Operation,
  byName: Readonly<Record<string, unknown>>,
  old: Readonly<Record<string, unknown>>,
): ReturnType<Operation['schema']['safeParse']> {
  const required = fields.filter((field) => field.required).map(({ name }) => [name, byName[name]] as const);
  return schema.safeParse({ ...Object.fromEntries(required), ...old });
}

function onlyNamed(names: Readonly<Record<string, unknown>>, data: Row): OldValues {
  return Object.fromEntries(Object.entries(data).filter(([name]) => name in names));
}

function callableRow(
  { row, line }: ManifestRow,
  operation: Operation,
  values: Row,
  overriddenDefaults: readonly string[],
  isCompared = false,
): PreparedCall {
  const paddedField = Object.keys(values).find((field) => values[field] !== values[field]?.trim());
  const request = isCompared ? undefined : operation.request(values);
  return {
    kind: 'callable',
    row,
    line,
    operation,
    subject: values[operation.subject] ?? '',
    requestDigest: request === undefined ? '' : requestDigest(request),
    values,
    paddedField,
    ...(overriddenDefaults.length > 0 && { overriddenDefaults }),
    ...(request !== undefined && hasUnsafeInteger(request.body) && { mayBeRounded: true }),
  };
}
