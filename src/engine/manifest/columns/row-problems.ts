import type { z } from 'zod';
import type { Operation } from '../../operation/operation.ts';
import { type Field, isLeftOut, type Row } from '../../operation/row-fields.ts';
import { excerpt, type RowProblem } from '../../rows/problem.ts';
import type { Manifest, ManifestRow } from '../manifest.ts';

/** A column with the name of an earlier one. */
export interface Clash {
  readonly name: string;
  readonly column: string;
}

export function unusableCells(
  { cells, cellProblems = {} }: ManifestRow,
  isField: (column: string) => boolean,
): readonly RowProblem[] {
  return Object.entries(cellProblems)
    .filter(([column]) => isField(column))
    .map(([column, problem]) => {
      const value = excerpt(cells[column]);
      return { column, problem, ...(value !== '' && { value }) };
    });
}

export function withLetters(problem: RowProblem, { lettersOf }: Pick<Manifest, 'lettersOf'>): RowProblem {
  const letters = problem.column === undefined ? undefined : lettersOf?.(problem.column);
  return letters === undefined ? problem : { ...problem, letters };
}

export function explainClash({ name, column }: Clash): RowProblem {
  return { column, problem: `another column also gives ${name}; keep one of them` };
}

export function emptyCell(
  { path }: Issue,
  { fields, subject }: Operation,
  values: Readonly<Record<string, unknown>>,
  columnFor: (name: string) => string | undefined,
): Issue | undefined {
  const field = fields.find(({ name, required }) => name === path[0] && required);
  if (field === undefined || columnFor(field.name) === undefined || !isLeftOut(values[field.name]))
    return undefined;
  const orDefault = field.name === subject ? '' : `, or pass --default ${field.name}=VALUE`;
  return { path, message: `is empty in this row; fill it in${orDefault}` };
}

type Issue = Pick<z.core.$ZodIssue, 'path' | 'message'>;

export function explainIssue(
  { path: [field], message }: Issue,
  fields: Readonly<Record<string, unknown>>,
  columnOf: (name: string) => string,
): RowProblem {
  if (typeof field !== 'string') return { problem: message };
  const value = fields[field];
  const shown = value === undefined || value === '' ? {} : { value: excerpt(value) };
  return { column: columnOf(field), problem: message, ...shown };
}

export interface UnexpectedValue {
  readonly name: string;
  readonly value: string;
  readonly expected: string;
}

/** The values that the API most likely does not read, including old values that an undo would send. */
export function unexpectedValues(
  fields: readonly (Pick<Field, 'name' | 'expectation'> & { readonly oldName: string | undefined })[],
  values: Row,
  old: Row = {},
): readonly UnexpectedValue[] {
  const found: UnexpectedValue[] = [];
  for (const { name, oldName = name, expectation } of fields) {
    if (expectation === undefined) continue;
    for (const [from, value] of [
      [name, values[name]],
      [oldName, old[name]],
    ] as const) {
      const expected = value === undefined ? undefined : expectation(value);
      if (value !== undefined && expected !== undefined) found.push({ name: from, value, expected });
    }
  }
  return found;
}

export function unexpectedProblem(
  { name, value, expected }: UnexpectedValue,
  columnOf: (name: string) => string,
): RowProblem {
  const message = `must be ${expected}: the API may drop or refuse anything else (--strict)`;
  return explainIssue({ path: [name], message }, { [name]: value }, columnOf);
}
