import { escapeInvisible } from '../../text/printable.ts';
import { unusedTitles } from './column-map.ts';
import { knownNames } from './column-names.ts';
import { likelyColumns, mapOption, resembledField } from './column-suggestion.ts';
import type { RowPreparer } from './row-preparer.ts';

/** What a column is taken for. */
export interface ColumnMeaning {
  readonly column: string;
  /** Absent for a column that is only kept for the report. */
  readonly field?: string;
}

/** Something in a manifest that is allowed but probably not meant. */
export interface ScanWarning {
  readonly code: 'COLUMN_RESEMBLES_FIELD' | 'COLUMN_MISSING' | 'MAP_UNUSED' | 'BLANKS_AROUND_TEXT';
  /** One line. */
  readonly message: string;
}

/** What each column is taken for, by the operations that rows may be for. */
export function meaningsOf(
  columns: readonly string[],
  { operations, fieldOf }: RowPreparer,
): ColumnMeaning[] {
  const fields = knownNames(operations);
  return columns.map((column) => {
    const field = fieldOf(column);
    return fields.has(field) ? { column, field } : { column };
  });
}

/**
 * What is odd about the columns: they look like fields that they are not taken for.
 *
 * @param used the names of the operations that rows are for.
 */
export function columnWarnings(
  columns: readonly string[],
  prepare: RowPreparer,
  used: readonly string[],
): readonly ScanWarning[] {
  const missing = findMissing(columns, prepare, used);
  return [
    ...missing.map(({ warning }) => warning),
    ...findResemblances(columns, prepare, new Set(missing.map(({ column }) => column))),
    ...unusedTitles(prepare.map, columns).map(
      (title): ScanWarning => ({
        code: 'MAP_UNUSED',
        message: `--map says what "${escapeInvisible(title)}" stands for, but there is no such column`,
      }),
    ),
  ];
}

/** Fields that every row needs and none of the columns is for, when a column looks like it was meant for them. */
function findMissing(
  columns: readonly string[],
  { operations, defaults, fieldOf }: RowPreparer,
  used: readonly string[],
): readonly { readonly column: string; readonly warning: ScanWarning }[] {
  const given = new Set([...columns.map(fieldOf), ...defaults.keys()]);
  const known = knownNames(operations);
  const unused = columns.filter((column) => !known.has(fieldOf(column)));
  const needed = operations.filter(({ name }) => used.includes(name)).flatMap(({ fields }) => fields);
  const missing = needed.filter(({ name, required }) => required && !given.has(name)).map(({ name }) => name);
  return [...likelyColumns(missing, unused)].map(([field, column]) => {
    const message = `no column is for ${field}; is it "${escapeInvisible(column)}"? Then pass ${mapOption(column, field)}`;
    return { column, warning: { code: 'COLUMN_MISSING', message } };
  });
}

/** Columns that are for no field but are called almost like one: what they hold would silently not be sent. */
function findResemblances(
  columns: readonly string[],
  { operations, fieldOf }: RowPreparer,
  besides: ReadonlySet<string>,
): readonly ScanWarning[] {
  const fields = knownNames(operations);
  const warnings: ScanWarning[] = [];
  for (const column of columns) {
    if (fields.has(fieldOf(column)) || besides.has(column)) continue;
    const field = resembledField(column, fields);
    if (field === undefined) continue;
    const message =
      `column "${escapeInvisible(column)}" is for no field and will not be sent; is it meant to be ${field}? ` +
      `Then pass ${mapOption(column, field)}`;
    warnings.push({ code: 'COLUMN_RESEMBLES_FIELD', message });
  }
  return warnings;
}
