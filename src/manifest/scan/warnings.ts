import type { Operation } from '../../../jobs/operation.ts';
import { escapeInvisible } from '../../printable.ts';
import { fieldNameOf, resembledField } from '../column-names.ts';

/** Something in a manifest that is allowed but probably not meant. */
export interface ScanWarning {
  readonly code: 'COLUMN_RESEMBLES_FIELD';
  /** Original name of the column. */
  readonly column: string;
  /** The field that it was probably meant to be. */
  readonly field: string;
  /** One line. */
  readonly message: string;
}

/** Columns that are for no field but are called almost like one: what they hold would silently not be sent. */
export function findResemblances(
  columns: readonly string[],
  operations: readonly Operation[],
): readonly ScanWarning[] {
  const fields = new Set([
    'operation',
    ...operations.flatMap((operation) => operation.fields.map(({ name }) => name)),
  ]);
  const warnings: ScanWarning[] = [];
  for (const column of columns) {
    if (fields.has(fieldNameOf(column))) continue;
    const field = resembledField(column, fields);
    if (field === undefined) continue;
    const message = `column "${escapeInvisible(column)}" is for no field and will not be sent; is it meant to be ${field}?`;
    warnings.push({ code: 'COLUMN_RESEMBLES_FIELD', column, field, message });
  }
  return warnings;
}
