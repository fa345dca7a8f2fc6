import type { Delimiter } from '../../../base/text/delimiter.ts';
import { excerpt, type RowProblem } from '../../rows/problem.ts';
import type { CsvHeader } from './header.ts';

const lineEnd = /\r\n|\n|\r/;

/**
 * A cell whose lines look like rows. In `2,"Greeting,c`, a quote opens by mistake, and takes in all rows up to the next quote at the end of
 * a cell. Texts of several lines, such as addresses and numbered lists, have no such lines.
 *
 * @param delimiters of the file; for a workbook, those of the files that it may have been made from
 */
export function rowsInCell(
  { cells, line }: { readonly cells: readonly string[]; readonly line: number },
  { names, indexes, width }: Pick<CsvHeader, 'names' | 'indexes' | 'width'>,
  delimiters: readonly Delimiter[],
): RowProblem | undefined {
  const index = cells.findIndex((cell) => lineEnd.test(cell));
  if (index < 0 || width < 2) return undefined;
  for (const delimiter of delimiters) {
    // The lines of the file that the cell has taken in, without their quotes.
    const [first = '', ...others] = cells.join(delimiter).split(lineEnd);
    const isRow = rowTest(first, width, delimiter);
    const found = others.findIndex(isRow);
    if (found < 0) continue;
    const last = others.findLastIndex(isRow);
    const name = names[indexes.indexOf(index)];
    const [firstLine, lastLine] = [line + found + 1, line + last + 1];
    return {
      ...(name !== undefined && { column: name }),
      problem:
        'has lines that look like rows, as when a quote opens by mistake; double that quote, or pass --trust-quotes if the text is meant',
      value: `${firstLine === lastLine ? `line ${firstLine}` : `lines ${firstLine} to ${lastLine}`}: ${excerpt(others[found])}`,
    };
  }
  return undefined;
}

/** Whether a line is built like the first one: as many cells as the header, and an identifier in the same column. */
function rowTest(first: string, width: number, delimiter: Delimiter): (line: string) => boolean {
  const model = cutRow(first, delimiter);
  if (model === undefined || model.length < width) return () => false;
  const column = model.findIndex((cell) => identifierKind(cell) !== undefined);
  const kind = identifierKind(model[column]);
  return (line) => {
    const cells = cutRow(line, delimiter);
    return cells !== undefined && cells.length >= width && identifierKind(cells[column]) === kind;
  };
}

/** The cells of a line. Undefined for prose, which has a blank behind a comma. */
function cutRow(line: string, delimiter: Delimiter): readonly string[] | undefined {
  const cells = line.split(delimiter);
  return /^\s/.test(cells[1] ?? '') ? undefined : cells;
}

function identifierKind(cell = ''): 'number' | 'code' | undefined {
  if (/^\d+$/.test(cell)) return 'number';
  return /\d/.test(cell) && !/\s/.test(cell) ? 'code' : undefined;
}
