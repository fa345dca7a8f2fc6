import { usageError } from '../../../base/errors/errors.ts';
import { delimiters } from '../../../base/text/delimiter.ts';
import { fieldNameOf, fieldNames, knownNames } from '../../operation/field-names.ts';
import type { Operation } from '../../operation/operation.ts';
import { excerpt } from '../../rows/problem.ts';
import type { Manifest } from '../manifest.ts';

/** The most columns, which are the width of a spreadsheet. All names together have at most 1 MiB. */
export const maxColumns = 16_384;
export const maxColumnNamesLength = 1024 * 1024;

/** Fields by the titles of columns, as the user maps them. */
export type ColumnMap = Readonly<Record<string, string>>;

/** Gives the name for a column's title: that of a field, or another one. */
export type FieldNamer = (column: string) => string;

/**
 * Maps columns by the user's map, or else by title. Caches each title.
 *
 * @throws CqbatchError (`usage`, `MAP_UNKNOWN_FIELD`) when the map names a field of no operation
 */
export function fieldNamer(map: ColumnMap = {}, operations: readonly Operation[] = []): FieldNamer {
  const known = knownNames(operations);
  const mapped = new Map<string, string>();
  for (const [title, text] of Object.entries(map)) {
    const field = fieldNameOf(text);
    if (!known.has(field)) {
      throw usageError(
        'MAP_UNKNOWN_FIELD',
        `--map "${title}=${text}": ${text} is not a field; use one of ${[...known].join(', ')}`,
      );
    }
    mapped.set(fieldNameOf(title), field);
  }
  const fieldByColumn = new Map<string, string>();
  return (column) => {
    let field = fieldByColumn.get(column);
    if (field === undefined) {
      const name = fieldNameOf(column);
      field = mapped.get(name) ?? name;
      fieldByColumn.set(column, field);
    }
    return field;
  };
}

/**
 * Values of fields that rows omit; the user's override the manifest's.
 *
 * @throws CqbatchError (`usage`) for a field of no operation
 */
export function readDefaults(
  manifest: Pick<Manifest, 'name' | 'defaults'>,
  ofUser: Readonly<Record<string, string>> | undefined,
  operations: readonly Operation[],
): ReadonlyMap<string, unknown> {
  const known = new Set(operations.flatMap(fieldNames));
  const values = new Map<string, unknown>();
  for (const [field, value] of Object.entries(manifest.defaults ?? {})) {
    if (!known.has(field)) {
      throw usageError(
        'MANIFEST_DEFAULTS',
        `${manifest.name}: "defaults": ${excerpt(field)} is not a field of any operation; rename or delete it`,
      );
    }
    values.set(field, value);
  }
  for (const [name, value] of Object.entries(ofUser ?? {})) {
    const field = fieldNameOf(name);
    if (!known.has(field)) {
      throw usageError(
        'DEFAULT_UNKNOWN_FIELD',
        `--default "${name}=${excerpt(value)}": ${excerpt(name)} is not a field; use one of ${[...known].join(', ')}`,
      );
    }
    values.set(field, value);
  }
  return values;
}

/**
 * Refuses titles such as `user_id;note`, with another delimiter than the file's: each cell would hold two values.
 *
 * @throws CqbatchError (`usage`, `MANIFEST_MIXED_DELIMITERS`)
 */
export function refuseJoinedTitles(
  { name: file, delimiter, columns }: Pick<Manifest, 'name' | 'delimiter' | 'columns'>,
  operations: readonly Operation[],
  fieldOf: FieldNamer,
): void {
  if (delimiter === undefined) return;
  const known = knownNames(operations);
  const isJoined = (title: string, other: string): boolean =>
    title.includes(other) && title.split(other).some((part) => known.has(fieldNameOf(part)));
  for (const title of columns().filter((each) => !known.has(fieldOf(each)))) {
    const other = delimiters.find((each) => each !== delimiter && isJoined(title, each));
    if (other === undefined) continue;
    const [shown, right] = [other, delimiter].map((each) => (each === '\t' ? 'a tab' : `"${each}"`));
    throw usageError(
      'MANIFEST_MIXED_DELIMITERS',
      `${file}: ${shown} separates the names in the title "${excerpt(title)}", but the delimiter of the file seems to be ${right}; ` +
        'use one delimiter in the whole file, or rename the column',
    );
  }
}

/**
 * Refuses two columns for one field. For manifests with a header: other rows are checked one by one, because they may name a field
 * differently.
 *
 * @throws CqbatchError (`usage`, `MANIFEST_AMBIGUOUS_COLUMN`)
 */
export function refuseAmbiguousColumns(
  { name: file, hasHeader, columns }: Pick<Manifest, 'name' | 'hasHeader' | 'columns'>,
  operations: readonly Operation[],
  fieldOf: FieldNamer,
): void {
  if (!hasHeader) return;
  const known = knownNames(operations);
  const columnByField = new Map<string, string>();
  for (const column of columns()) {
    const field = fieldOf(column);
    if (!known.has(field)) continue;
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
