import { composed } from '../../base/text/composed.ts';
import type { Markup } from '../../engine/report/html/markup.ts';
import type { PageColumn } from '../../engine/report/html/page-data.ts';
import { searchPatterns } from './table/search-hits.ts';

/** A column of the table: a fact of the row, a result column of its operation, or a cell of the manifest. */
export interface Column extends PageColumn {
  /** The id of the column: its kind and name. */
  readonly id: string;
  readonly title: string;
  readonly isNumber: boolean;
  /**
   * The look of the cells. `chip`: the text is a class, and stands in a chip of its color. `long`: the column takes the room that is left.
   */
  readonly look?: 'chip' | 'long' | undefined;
  /** The number of characters of the longest text, as shown. */
  readonly width: number;
  text(row: number): string;
  /** The text of a row as the page shows it. */
  shown(row: number): string;
  /** What the page shows for a row, if it is more than a text. */
  drawn?(row: number): Markup;
  /** The value by which a row is sorted. */
  key(row: number): string | number;
}

/** @param q words, each of which must be in any column. Words in quotes belong together. */
export function searchOf(q: string, columns: readonly Pick<Column, 'shown'>[]): (row: number) => boolean {
  const patterns = searchPatterns(q).map((pattern) => new RegExp(pattern, 'iu'));
  return (row) =>
    patterns.every((pattern) => columns.some((column) => pattern.test(composed(column.shown(row)))));
}

/** A text of digits: identifiers and other whole numbers up to 19 digits. Longer ones sort as text. */
const wholeNumber = /^\d{0,19}$/;

/**
 * Missing values come last in both directions. When all texts are whole numbers, they sort as numbers.
 *
 * @param column undefined: the rows stay in order
 */
export function sorted(rows: Uint32Array, column: Column | undefined, isDescending: boolean): Uint32Array {
  if (column === undefined) return rows;
  const isWhole = !column.isNumber && rows.every((row) => wholeNumber.test(column.text(row)));
  const keys: (string | number)[] = [];
  for (const row of rows) {
    const key = column.key(row);
    if (!isWhole || key === '') keys[row] = key;
    // A number compares faster than a text, but a long one would be inexact.
    else keys[row] = column.width > 15 ? String(key).padStart(19, '0') : Number(key);
  }
  const sign = isDescending ? -1 : 1;
  return rows.sort((a, b) => {
    const [left, right] = [keys[a] ?? '', keys[b] ?? ''];
    const [lacksLeft, lacksRight] = [left === '', right === ''];
    if (lacksLeft || lacksRight) return Number(lacksLeft) - Number(lacksRight) || a - b;
    return left < right ? -sign : left > right ? sign : a - b;
  });
}

/** The values of a portion: an array for each column. */
export async function unpackedPortion<Value>(base64: string): Promise<readonly (readonly Value[])[]> {
  const binary = atob(base64);
  const bytes = Uint8Array.from({ length: binary.length }, (_, index) => binary.charCodeAt(index));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream('gzip'));
  return (await new Response(stream).json()) as readonly (readonly Value[])[];
}
