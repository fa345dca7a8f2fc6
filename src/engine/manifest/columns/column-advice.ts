import { shellWord } from '../../../base/text/command-words.ts';
import { nearestName } from '../../../base/text/near-name.ts';
import { escapeInvisible } from '../../../base/text/printable.ts';
import type { WarningCode } from '../../../domain/warning-codes.ts';
import { fieldNameOf, knownNames } from '../../operation/field-names.ts';
import type { Operation } from '../../operation/operation.ts';
import { type Field, isLeftOut } from '../../operation/row-fields.ts';
import type { Manifest } from '../manifest.ts';
import type { ColumnMap, FieldNamer } from './column-names.ts';

export interface ColumnReading {
  readonly operations: readonly Operation[];
  /** Values of fields that rows omit, from `--default` or the manifest's `defaults`. */
  readonly defaults: ReadonlyMap<string, unknown>;
  readonly fieldOf: FieldNamer;
  readonly map?: ColumnMap | undefined;
  /** The fields that the user's `--default` fills. */
  readonly filled: readonly string[];
  readonly sample: Manifest['sample'];
}

export interface ScanWarning {
  readonly code: WarningCode;
  readonly message: string;
}

/**
 * Warns of columns that resemble fields but would silently not be sent.
 *
 * @param used names of the operations in use
 */
export function columnWarnings(
  columns: readonly string[],
  { operations, defaults, fieldOf, map = {}, sample }: ColumnReading,
  used: readonly string[],
): readonly ScanWarning[] {
  const known = knownNames(operations);
  const unused = columns.filter((column) => !known.has(fieldOf(column)));
  const given = new Set([...columns.map(fieldOf), ...defaults.keys()]);
  const warnings: ScanWarning[] = [];
  const suggested = new Set<string>();
  for (const { name, fields, subject } of operations) {
    const missing = fields.filter((field) => used.includes(name) && field.required && !given.has(field.name));
    for (const [field, column] of likelyColumns(missing, unused, { subject, sample })) {
      suggested.add(column);
      const message = `no column for ${field}; if it is "${escapeInvisible(column)}", pass ${mapOption(column, field)}`;
      warnings.push({ code: 'COLUMN_MISSING', message });
    }
  }
  for (const column of unused) {
    const field = suggested.has(column) || isUnprintable(column) ? undefined : resembledField(column, known);
    if (field === undefined || !valuesFit(fieldOfName(field, operations), column, sample)) continue;
    const message =
      `column "${escapeInvisible(column)}" matches no field and is not sent; if it is ${field}, ` +
      `pass ${mapOption(column, field)}`;
    warnings.push({ code: 'COLUMN_RESEMBLES_FIELD', message });
  }
  const titles = new Set(columns.map(fieldNameOf));
  for (const title of Object.keys(map).filter((each) => !titles.has(fieldNameOf(each)))) {
    const message = `--map names the column "${escapeInvisible(title)}", which the manifest does not have`;
    warnings.push({ code: 'MAP_UNUSED', message });
  }
  return warnings;
}

export function defaultOption({ name, option }: Pick<Field, 'name' | 'option'>): string {
  if (option === undefined) return `--default ${name}=VALUE`;
  return `--${name.replaceAll('_', '-')} ${option.replace(/[<>]/g, '').toUpperCase()}`;
}

export function mapOption(column: string, field: string): string {
  return `--map ${shellWord(`${column.trim().replace(/\s+/g, ' ')}=${field}`)}`;
}

/**
 * Columns that probably hold fields without a column: similarly named, named with other words, or the only column named like an identifier.
 * Their values must fit. Suggests each column once.
 *
 * @param columns those without a field
 */
export function likelyColumns(
  fields: readonly Pick<Field, 'name' | 'accepts'>[],
  columns: readonly string[],
  { subject, sample }: Pick<Operation, 'subject'> & Pick<ColumnReading, 'sample'>,
): ReadonlyMap<string, string> {
  const free = new Set(columns);
  const found = new Map<string, string>();
  for (const likeness of likenesses) {
    for (const field of fields) {
      const { name } = field;
      if (found.has(name)) continue;
      const alike = [...free].filter(
        (column) =>
          likeness(column, name) &&
          // Only the subject may be named by a longer column: `agent_user_id` is another person than `user_id`.
          (name === subject || likeness === isMistyped || isPartOf(column, name)) &&
          !isUnprintable(column) &&
          valuesFit(field, column, sample),
      );
      const [column] = alike;
      if (column === undefined || (likeness === holdsIdentifier && alike.length > 1)) continue;
      found.set(name, column);
      free.delete(column);
    }
  }
  return found;
}

const identifierWords: ReadonlySet<string> = new Set(['id', 'ids', 'nr', 'no', 'num', 'number', 'key']);

/** Whether a column is named like an identifier, which is a weak sign if several columns are. */
const holdsIdentifier = (column: string, field: string): boolean =>
  field.endsWith('_id') && identifierWords.has(wordsOf(column).at(-1) ?? '');

const isMistyped = (column: string, field: string): boolean => resembledField(column, [field]) !== undefined;

const isPartOf = (column: string, field: string): boolean =>
  wordsOf(column).every((word) => wordsOf(field).includes(word));

/** The signs that a column holds a field, the strongest first. */
const likenesses: readonly ((column: string, field: string) => boolean)[] = [
  isMistyped,
  (column, field) => isPartOf(field, column),
  isPartOf,
  (column, field) => wordsOf(field).some((word) => word !== 'id' && wordsOf(column).includes(word)),
  holdsIdentifier,
];

function isUnprintable(column: string): boolean {
  return escapeInvisible(column) !== column;
}

function valuesFit(
  field: Pick<Field, 'accepts'> | undefined,
  column: string,
  sample: ColumnReading['sample'],
): boolean {
  const values = sample.map((cells) => cells[column]).filter((value) => !isLeftOut(value));
  return values.every((value) => field === undefined || field.accepts(value));
}

/** The field with this name. Undefined for `operation` and the names of old values. */
function fieldOfName(name: string, operations: readonly Operation[]): Field | undefined {
  return operations.flatMap(({ fields }) => fields).find((field) => field.name === name);
}

function wordsOf(name: string): readonly string[] {
  return fieldNameOf(name).split('_');
}

/** The field that a header misspells: `title` for `titel`, `evaluation_id` for `evaluationid`. */
export function resembledField(header: string, fields: Iterable<string>): string | undefined {
  return nearestName(fieldNameOf(header), fields);
}
