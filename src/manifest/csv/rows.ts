import { Cells } from '../cells.ts';
import { excerpt } from '../excerpt.ts';
import { unguardCell } from '../formula-guard.ts';
import type { RowProblem } from '../row.ts';
import type { UnnumberedRow } from '../row-chunks.ts';
import type { CsvHeader } from './header.ts';
import type { CsvRecord } from './records.ts';

/**
 * Makes rows of the records that follow the header. Empty cells are left out, cells equal to the clear token become
 * the empty string, and rows marked as guarded lose their guard.
 */
export async function* readCsvRows(
  batches: AsyncIterable<readonly CsvRecord[]>,
  header: CsvHeader,
  clearToken: string,
): AsyncGenerator<readonly UnnumberedRow[], void, undefined> {
  let isFirst = true;
  for await (const records of batches) {
    const rows = (isFirst ? records.slice(1) : records).map((record) => csvRow(record, header, clearToken));
    isFirst = false;
    yield rows;
  }
}

function csvRow({ cells: values, line }: CsvRecord, header: CsvHeader, clearToken: string): UnnumberedRow {
  const { names, indexes, width, guardedIndex } = header;
  const guarded = guardedIndex >= 0 && values[guardedIndex] === 'yes';
  const cells = new Cells();
  for (let column = 0; column < names.length; column++) {
    const value = values[indexes[column] as number];
    if (value === undefined || value === '') continue;
    const name = names[column] as string;
    if (value === clearToken) cells[name] = '';
    else cells[name] = guarded ? unguardCell(value, { clearToken }) : value;
  }
  const problem = values.length === width ? strayText(header, values) : wrongWidth(header, values);
  return problem === undefined ? { line, cells } : { line, cells, problem };
}

function wrongWidth({ width }: CsvHeader, values: readonly string[]): RowProblem {
  const problem = `has ${values.length === 1 ? '1 cell' : `${values.length} cells`}, the header has ${width}`;
  if (values.length < width) return { problem: `${problem}; is the line cut off?` };
  return {
    problem: `${problem}; a cell that holds the delimiter must be in quotes`,
    value: excerpt(values[width]),
  };
}

function strayText({ unnamed }: CsvHeader, values: readonly string[]): RowProblem | undefined {
  for (const index of unnamed) {
    if (values[index] !== '') {
      return { problem: `text in column ${index + 1}, which has no name`, value: excerpt(values[index]) };
    }
  }
  return undefined;
}
