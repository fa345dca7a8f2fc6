import { escapeInvisible } from '../../base/text/printable.ts';
import { cutInTheMiddle, styled, widthOf } from './style.ts';
import { table } from './words.ts';

export interface TableColumn {
  readonly title: string;
  readonly isNumber?: true;
  /** The sentence that replaces the column if all its cells are equal. */
  readonly sentenceIfEqual?: (cell: string, rows: number) => string;
  /** Whether cells may be cut in the middle, as names, paths and addresses: their two ends distinguish them. */
  readonly mayBeCut?: true;
  /** Whether the column may be left out where the table would not fit. */
  readonly mayBeLeftOut?: true;
}

type Rows = readonly (readonly string[])[];

/** The least width of a cut cell. */
const leastCutWidth = 12;
const columnGapWidth = 2;

/**
 * A table that is as wide as the screen. If it does not fit even with cut cells, each row is a paragraph.
 *
 * @param screen the columns of the screen; undefined where text is not for a screen: nothing is left out or cut
 */
export function fittedTable(
  columns: readonly TableColumn[],
  rows: Rows,
  screen: number | undefined,
): readonly string[] {
  const cells = rows.map((row) => row.map(escapeInvisible));
  if (screen === undefined) return tableLinesOf(columns, cells);
  const [first = []] = cells;
  const isSame = columns.map(
    ({ sentenceIfEqual }, index) =>
      sentenceIfEqual !== undefined && cells.every((row) => row[index] === first[index]),
  );
  const said = columns.flatMap(({ sentenceIfEqual }, index) =>
    isSame[index] ? (sentenceIfEqual?.(first[index] ?? '', rows.length) ?? []) : [],
  );
  const without = (left: readonly boolean[]): readonly [readonly TableColumn[], Rows] => [
    columns.filter((_, index) => !left[index]),
    cells.map((row) => row.filter((_, index) => !left[index])),
  ];
  const whole = without(isSame);
  const least = without(columns.map(({ mayBeLeftOut }, index) => isSame[index] || mayBeLeftOut === true));
  const fitting = [whole, least].find((each) => leastWidth(...each) <= screen);
  return [
    ...said,
    ...(fitting === undefined
      ? paragraphs(screen, ...whole)
      : tableLinesOf(fitting[0], cellsCutToScreen(screen, ...fitting))),
  ];
}

function tableLinesOf(columns: readonly TableColumn[], cells: Rows): readonly string[] {
  const titles = columns.map(({ title }) => styled('bold', title));
  const numbers = columns.flatMap(({ isNumber }, index) => (isNumber ? [index] : []));
  return table([titles, ...cells], numbers);
}

function widthsOf(columns: readonly TableColumn[], cells: Rows): readonly number[] {
  return columns.map(({ title }, index) =>
    Math.max(title.length, ...cells.map((row) => widthOf(row[index] ?? ''))),
  );
}

function tableWidth(widths: readonly number[]): number {
  return widths.reduce((total, width) => total + width, columnGapWidth * (widths.length - 1));
}

function leastWidth(columns: readonly TableColumn[], cells: Rows): number {
  const widths = widthsOf(columns, cells);
  return tableWidth(
    widths.map((width, index) => (columns[index]?.mayBeCut ? Math.min(width, leastCutWidth) : width)),
  );
}

/** Cuts cells until the table fits, always in the widest column that may be cut. */
function cellsCutToScreen(screen: number, columns: readonly TableColumn[], cells: Rows): Rows {
  const widths = [...widthsOf(columns, cells)];
  while (tableWidth(widths) > screen) {
    const most = Math.max(...widths.filter((_, index) => columns[index]?.mayBeCut));
    const widest = widths.findIndex((width, index) => width === most && columns[index]?.mayBeCut);
    widths[widest] = most - 1;
  }
  return cells.map((row) =>
    row.map((cell, index) => (columns[index]?.mayBeCut ? cutInTheMiddle(widths[index] ?? 0, cell) : cell)),
  );
}

/** The rows as paragraphs: the first two cells of a row, and below them the other cells with their titles. */
function paragraphs(screen: number, columns: readonly TableColumn[], cells: Rows): readonly string[] {
  return cells.flatMap((row) => {
    const lines = [row.slice(0, 2).join('  ')];
    let line = '';
    for (const [index, cell] of row.entries()) {
      if (index < 2) continue;
      const { title = '', mayBeCut } = columns[index] ?? {};
      const part = `${title} ${mayBeCut ? cutInTheMiddle(screen - title.length - 3, cell) : cell}`;
      if (line !== '' && widthOf(`  ${line}, ${part},`) > screen) {
        lines.push(`  ${line},`);
        line = '';
      }
      line = line === '' ? part : `${line}, ${part}`;
    }
    return [...lines, `  ${line}`];
  });
}
