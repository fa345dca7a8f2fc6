import { usageError } from '../../errors.ts';
import type { Operation } from '../../operation/operation.ts';
import { fieldNameOf, knownNames } from './column-names.ts';

/** What the user says that columns stand for (`--map`): title to name of a field. Titles are matched as fields are. */
export type ColumnMap = Readonly<Record<string, string>>;

/** Tells the name that a column stands for, known or not. */
export type FieldNamer = (column: string) => string;

/**
 * Makes the function that tells what columns stand for: what the map says, else what their title says.
 *
 * @throws CqbatchError (`usage`, `MAP_UNKNOWN_FIELD`) when the map names a field of no operation.
 */
export function fieldNamer(map: ColumnMap | undefined, operations: readonly Operation[]): FieldNamer {
  if (map === undefined) return fieldNameOf;
  const known = knownNames(operations);
  const fieldByTitle = new Map<string, string>();
  for (const [title, text] of Object.entries(map)) {
    const field = fieldNameOf(text);
    if (!known.has(field)) {
      throw usageError(
        'MAP_UNKNOWN_FIELD',
        `--map "${title}=${text}": ${text} is no field; known are ${[...known].join(', ')}`,
      );
    }
    fieldByTitle.set(fieldNameOf(title), field);
  }
  return (column) => {
    const name = fieldNameOf(column);
    return fieldByTitle.get(name) ?? name;
  };
}

/** The titles of a map that none of the columns has: most likely they were mistyped. */
export function unusedTitles(map: ColumnMap | undefined, columns: readonly string[]): readonly string[] {
  const present = new Set(columns.map(fieldNameOf));
  return Object.keys(map ?? {}).filter((title) => !present.has(fieldNameOf(title)));
}
