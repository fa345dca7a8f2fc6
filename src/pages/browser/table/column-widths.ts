import type { Column } from '../column.ts';

/** The width of a chip's icon and ends, in characters of the chip, and the size of these. */
const chip = { ends: 4, size: 0.95 };
/** The widest columns, in characters. Longer texts are cut, so that they push no other column off the screen. */
const widestTexts = { long: 28, subject: 24, others: 28 };
/** Identifiers up to this length, such as UUIDs, are never cut. */
const longestWholeId = 40;
/** The longest text for which the long column becomes wider, in characters. */
const longestInLine = 200;

export const isLong = ({ look }: Column): boolean => look === 'long';
export const isChip = ({ look }: Column): boolean => look === 'chip';

/** The number of characters that a column shows at least. */
export function widestOf(column: Column): number {
  if (isLong(column)) return widestTexts.long;
  if (column.role !== 'subject') return widestTexts.others;
  return isWholeId(column) ? longestWholeId : widestTexts.subject;
}

/** Whether a column has identifiers that are never cut. */
export function isWholeId({ role, width }: Column): boolean {
  return role === 'subject' && width <= longestWholeId;
}

/** Whether a text may be cut: letters can be twice as wide as digits. */
export function mayBeCut(column: Column, text: string): boolean {
  return text.length >= widestOf(column) / 2;
}

/** The width of a column's longest text, so that no column changes its width while the reader scrolls. */
export function columnWidth(column: Column): string {
  return lengthOf(Math.min(widestOf(column), neededBy(column)));
}

/**
 * The width of the whole table. The long column gets what its texts need, up to the edge of the screen: what is beyond the edge is of less
 * interest.
 */
export function tableWidth(columns: readonly Column[]): string {
  const index = columns.findIndex(isLong);
  const widths = columns.map(columnWidth);
  const long = columns[index];
  if (long === undefined) return `calc(${widths.join(' + ')})`;
  const before = widths.slice(0, index).join(' + ') || '0px';
  const needed = lengthOf(Math.min(longestInLine, neededBy(long)));
  widths[index] = `max(${columnWidth(long)}, min(${needed}, 100% - (${before})))`;
  return `calc(${widths.join(' + ')})`;
}

function neededBy(column: Column): number {
  // The unit `ch` is the width of a digit; capitals are wider.
  const text = isChip(column) ? (column.width + chip.ends) * chip.size : column.width * 1.1;
  return Math.max(text, column.title.length + 2);
}

function lengthOf(characters: number): string {
  return `calc(${characters.toFixed(1)}ch + 2 * var(--cell-room))`;
}
