import { shellWord } from '../../text/shell-word.ts';
import { fieldNameOf } from './column-names.ts';

/** The option that makes a column stand for a field, ready to be pasted into a shell. */
export function mapOption(column: string, field: string): string {
  return `--map ${shellWord(`${column.trim().replace(/\s+/g, ' ')}=${field}`)}`;
}

/**
 * The columns that probably hold fields for which there is no column: called almost like the field, or with words of its
 * own; or it is an identifier, and only one column is called as if it held one. Each column is named once.
 *
 * @param columns those that stand for no field.
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
      const alike = [...free].filter((column) => likeness.test(column, field));
      const [column] = alike;
      if (column === undefined || (likeness.mustBeOnly && alike.length > 1)) continue;
      found.set(field, column);
      free.delete(column);
    }
  }
  return found;
}

interface Likeness {
  readonly test: (column: string, field: string) => boolean;
  /** Whether it says little when several columns have it. */
  readonly mustBeOnly?: boolean;
}

/** What columns are called that hold identifiers. */
const identifierWords: ReadonlySet<string> = new Set(['id', 'ids', 'nr', 'no', 'num', 'number', 'key']);

/** The surest first. */
const likenesses: readonly Likeness[] = [
  { test: (column, field) => resembledField(column, [field]) !== undefined },
  { test: (column, field) => wordsOf(field).every((word) => wordsOf(column).includes(word)) },
  { test: (column, field) => wordsOf(column).every((word) => wordsOf(field).includes(word)) },
  { test: (column, field) => wordsOf(field).some((word) => word !== 'id' && wordsOf(column).includes(word)) },
  {
    test: (column, field) => field.endsWith('_id') && identifierWords.has(wordsOf(column).at(-1) ?? ''),
    mustBeOnly: true,
  },
];

function wordsOf(name: string): readonly string[] {
  return fieldNameOf(name).split('_');
}

/**
 * The field that a column was probably meant to be though it is not called so: `titel` for `title`, `evaluationid`
 * for `evaluation_id`. Two slips are forgiven, one in short names.
 */
export function resembledField(header: string, fields: Iterable<string>): string | undefined {
  const name = squeeze(fieldNameOf(header));
  let best: { readonly field: string; readonly distance: number } | undefined;
  for (const field of fields) {
    const target = squeeze(field);
    const allowed = target.length <= 5 ? 1 : 2;
    if (Math.abs(target.length - name.length) > allowed) continue;
    const distance = slips(name, target);
    if (distance <= allowed && (best === undefined || distance < best.distance)) best = { field, distance };
  }
  return best?.field;
}

function squeeze(name: string): string {
  return name.replaceAll('_', '');
}

/** Letters left out, added, replaced or swapped with their neighbour (optimal string alignment distance). */
function slips(from: string, to: string): number {
  const rows: number[][] = [Array.from({ length: to.length + 1 }, (_, column) => column)];
  const at = (row: number, column: number): number => rows[row]?.[column] ?? 0;
  for (let row = 1; row <= from.length; row++) {
    rows.push([row]);
    for (let column = 1; column <= to.length; column++) {
      const same = from[row - 1] === to[column - 1];
      let least = Math.min(
        at(row - 1, column) + 1,
        at(row, column - 1) + 1,
        at(row - 1, column - 1) + (same ? 0 : 1),
      );
      const swapped = from[row - 1] === to[column - 2] && from[row - 2] === to[column - 1];
      if (row > 1 && column > 1 && swapped) least = Math.min(least, at(row - 2, column - 2) + 1);
      rows[row]?.push(least);
    }
  }
  return at(from.length, to.length);
}
