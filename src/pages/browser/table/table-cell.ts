import { inReadingOrder, shortened } from '../../../base/text/printable.ts';
import type { Column } from '../column.ts';
import { drawnMarkup, element } from '../dom.ts';
import { isChip, isLong, isWholeId, mayBeCut, widestOf } from './column-widths.ts';
import { markHits } from './hit-marks.ts';
import { textFromHit } from './search-hits.ts';

/** The longest text in the table. Longer texts are cut; the details of the row have more. */
const longestText = 300;
const longestTitle = 1_000;
/** The longest texts on paper. Longer ones lose their middle: identifiers often differ by their ends only. */
const longestPrinted = { long: 160, others: 80 };

interface CellLook {
  readonly isPrinting: boolean;
  /** What the reader searches for: it is marked. */
  readonly hits: RegExp | undefined;
  /** How many characters of the long column are in sight. */
  readonly longInSight: number;
}

export function headCell(column: Column, order: string, content: HTMLElement): HTMLElement {
  const title = tooltipOf(column, column.title);
  return element('th', { class: classOf(column), 'aria-sort': order, title }, content);
}

export function rowCell(column: Column, row: number, look: CellLook): HTMLElement {
  const text = column.shown(row);
  const shown = look.isPrinting ? printedText(text, column) : textInSight(text, column, look);
  const chip = isChip(column) ? element('span', { class: `outcome ${column.text(row)}` }, shown) : shown;
  const content = column.drawn === undefined ? chip : drawnMarkup(column.drawn(row));
  const cell = element('td', { class: classOf(column), title: tooltipOf(column, text) }, content);
  if (look.hits !== undefined && !look.isPrinting) markHits(cell, look.hits);
  return cell;
}

/** A text that may be cut in the table, as a whole. */
export function wholeText(text: string): string {
  return shortened(text, longestTitle);
}

function textInSight(text: string, column: Column, { hits, longInSight }: CellLook): string {
  const inSight = isLong(column) ? longInSight : widestOf(column);
  return shortened(hits === undefined ? text : textFromHit(text, hits, inSight), longestText);
}

function printedText(text: string, column: Column): string {
  const half = (isLong(column) ? longestPrinted.long : longestPrinted.others) / 2;
  return text.length > 2 * half ? `${text.slice(0, half)}…${text.slice(-half)}` : text;
}

function tooltipOf(column: Column, text: string): string | undefined {
  return mayBeCut(column, text) ? inReadingOrder(wholeText(text)) : undefined;
}

function classOf(column: Column): string {
  const { kind, name, role, isNumber } = column;
  const isCount = isNumber && name !== 'started';
  return [kind, kind === 'fact' ? name : role, isWholeId(column) && 'whole-id', isCount && 'number']
    .filter(Boolean)
    .join(' ');
}
