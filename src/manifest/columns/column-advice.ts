import type { Operation } from '../../operation/operation.ts';
import { nearestName } from '../../text/near-name.ts';
import { escapeInvisible } from '../../text/printable.ts';
import { shellWord } from '../../text/shell-word.ts';
import { type ColumnMap, type FieldNamer, fieldNameOf, knownNames, requiredNames } from './column-names.ts';

/** How to interpret the columns of a manifest. */
export interface ColumnReading {
  /** The possible operations of rows. */
  readonly operations: readonly Operation[];
  /** Values of fields that rows omit, by field: from `--default` or the manifest's `defaults`. */
  readonly defaults: ReadonlyMap<string, unknown>;
  /** Maps a column to a name, known or not. */
  readonly fieldOf: FieldNamer;
  /** The user's `--map`. */
  readonly map?: ColumnMap | undefined;
  /** The fields of the user's `--default`. */
  readonly filled: readonly string[];
}

/** A part of a manifest that is valid but probably unintended. */
export interface ScanWarning {
  readonly code:
    | 'COLUMN_RESEMBLES_FIELD'
    | 'COLUMN_MISSING'
    | 'MAP_UNUSED'
    | 'BLANKS_AROUND_TEXT'
    | 'WORD_FOR_NOTHING'
    | 'DAMAGED_TEXT'
    | 'HIDDEN_ROWS'
    | 'HIDDEN_COLUMN'
    | 'CELLS_INCOMPARABLE'
    | 'DEFAULT_OVERRIDDEN'
    | 'OPTION_WITHOUT_EFFECT';
  /** One line. */
  readonly message: string;
}

/**
 * Warns of columns that resemble fields but would silently not be sent.
 *
 * @param used names of the operations in use
 */
export function columnWarnings(
  columns: readonly string[],
  { operations, defaults, fieldOf, map = {} }: ColumnReading,
  used: readonly string[],
): readonly ScanWarning[] {
  const known = knownNames(operations);
  const unused = columns.filter((column) => !known.has(fieldOf(column)));
  const given = new Set([...columns.map(fieldOf), ...defaults.keys()]);
  const needed = operations.filter(({ name }) => used.includes(name)).flatMap(requiredNames);
  const missing = needed.filter((name) => !given.has(name));
  const likely = likelyColumns(missing, unused);
  const warnings: ScanWarning[] = [...likely].map(([field, column]) => ({
    code: 'COLUMN_MISSING',
    message: `no column for ${field}; if it is "${escapeInvisible(column)}", pass ${mapOption(column, field)}`,
  }));
  const suggested = new Set(likely.values());
  for (const column of unused) {
    const field = suggested.has(column) ? undefined : resembledField(column, known);
    if (field === undefined) continue;
    const message =
      `column "${escapeInvisible(column)}" matches no field and is not sent; if it is ${field}, ` +
      `pass ${mapOption(column, field)}`;
    warnings.push({ code: 'COLUMN_RESEMBLES_FIELD', message });
  }
  // These titles were probably mistyped.
  const titles = new Set(columns.map(fieldNameOf));
  for (const title of Object.keys(map).filter((each) => !titles.has(fieldNameOf(each)))) {
    const message = `--map names the column "${escapeInvisible(title)}", which the manifest does not have`;
    warnings.push({ code: 'MAP_UNUSED', message });
  }
  return warnings;
}

/** The option that maps a column to a field, ready to paste into a shell. */
export function mapOption(column: string, field: string): string {
  return `--map ${shellWord(`${column.trim().replace(/\s+/g, ' ')}=${field}`)}`;
}

/**
 * The columns that probably hold fields without a column: similarly named, named with other words, or the only column named
 * like an identifier. Each column is suggested once.
 *
 * @param columns those without a field
 */
export function likelyColumns(
  fields: readonly string[],
  columns: readonly string[],
): ReadonlyMap<string, string> {
  const free = new Set(columns);
  const found = new Map<string, string>();
  for (const likeness of likenesses) {
    for (const field of fields) {
      if (found.has(field)) continue;
      const alike = [...free].filter((column) => likeness(column, field));
      const [column] = alike;
      if (column === undefined || (likeness === holdsIdentifier && alike.length > 1)) continue;
      found.set(field, column);
      free.delete(column);
    }
  }
  return found;
}

/** Last words of columns that hold identifiers. */
const identifierWords: ReadonlySet<string> = new Set(['id', 'ids', 'nr', 'no', 'num', 'number', 'key']);

/** A weak sign if several columns match. */
const holdsIdentifier = (column: string, field: string): boolean =>
  field.endsWith('_id') && identifierWords.has(wordsOf(column).at(-1) ?? '');

/** Strongest first. */
const likenesses: readonly ((column: string, field: string) => boolean)[] = [
  (column, field) => resembledField(column, [field]) !== undefined,
  (column, field) => wordsOf(field).every((word) => wordsOf(column).includes(word)),
  (column, field) => wordsOf(column).every((word) => wordsOf(field).includes(word)),
  (column, field) => wordsOf(field).some((word) => word !== 'id' && wordsOf(column).includes(word)),
  holdsIdentifier,
];

function wordsOf(name: string): readonly string[] {
  return fieldNameOf(name).split('_');
}

/** The field that a column probably means: `title` for `titel`, `evaluation_id` for `evaluationid`. */
export function resembledField(header: string, fields: Iterable<string>): string | undefined {
  return nearestName(fieldNameOf(header), fields);
}
