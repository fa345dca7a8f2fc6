import type { Operation } from '../../../jobs/operation.ts';
import { usageError } from '../../errors.ts';
import { fieldNameOf } from '../column-names.ts';
import { excerpt } from '../excerpt.ts';
import type { Manifest } from '../manifest.ts';

/**
 * Values for fields that rows leave out: `--user-id` for `user_id`, then the manifest's `defaults`.
 *
 * @throws CqbatchError (`usage`) when a default is for no field of any operation.
 */
export function readDefaults(
  manifest: Pick<Manifest, 'name' | 'defaults'>,
  userId: string | undefined,
  operations: readonly Operation[],
): ReadonlyMap<string, unknown> {
  const values = new Map<string, unknown>();
  for (const [field, value] of Object.entries(manifest.defaults ?? {})) {
    if (!operations.some(({ fields }) => fields.some(({ name }) => name === field))) {
      throw usageError(
        'MANIFEST_DEFAULTS',
        `${manifest.name}: "defaults": ${excerpt(field)} is no field of any operation; rename or delete it`,
      );
    }
    values.set(field, value);
  }
  if (userId !== undefined) values.set('user_id', userId);
  return values;
}

/**
 * Checks that no two columns of delimited text stand for the same field. (JSON rows may differ in how they call a
 * field; there each row is checked.)
 *
 * @throws CqbatchError (`usage`, `MANIFEST_AMBIGUOUS_COLUMN`).
 */
export function refuseAmbiguousColumns(
  { name: file, format, columns }: Pick<Manifest, 'name' | 'format' | 'columns'>,
  operations: readonly Operation[],
): void {
  if (format !== 'csv' && format !== 'tsv') return;
  const fields = new Set([
    'operation',
    ...operations.flatMap((operation) => operation.fields.map(({ name }) => name)),
  ]);
  const columnByField = new Map<string, string>();
  for (const column of columns()) {
    const field = fieldNameOf(column);
    if (!fields.has(field)) continue;
    const other = columnByField.get(field);
    if (other !== undefined) {
      throw usageError(
        'MANIFEST_AMBIGUOUS_COLUMN',
        `${file}: columns "${other}" and "${column}" both stand for ${field}; rename or delete one`,
      );
    }
    columnByField.set(field, column);
  }
}
