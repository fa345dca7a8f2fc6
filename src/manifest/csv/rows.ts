import { usageError } from '../../errors.ts';
import { maxColumnNamesLength, maxColumns } from '../columns/column-names.ts';
import { guardColumn, unguardCell } from '../formula-guard.ts';
import { Cells, type UnnumberedRow } from '../manifest.ts';
import { excerpt, type RowProblem } from '../problem.ts';
import type { CsvRecord } from './records.ts';

/** The header of delimited text: which cell of a record belongs to which column. */
export interface CsvHeader {
  readonly names: readonly string[];
  /** Index of the cell of each name. */
  readonly indexes: readonly number[];
  /** Number of cells that every record must have. */
  readonly width: number;
  /** Cells under an empty name: they must be empty. */
  readonly unnamed: readonly number[];
  /** Index of the column that says whether a row is guarded, or -1; see `formula-guard.ts`. */
  readonly guardedIndex: number;
  /** Whether text is guarded behind commas, too. */
  readonly commas: boolean;
}

/**
 * Reads the first record as the header. Columns whose names start with `_` are the tool's own and left out.
 *
 * @param kept those of them that are wanted
 * @throws CqbatchError (`usage`) when it names no column, names one twice, or looks like data.
 */
export function readCsvHeader(
  record: CsvRecord,
  file: string,
  clearToken: string,
  kept: readonly string[] = [],
): CsvHeader {
  const { cells, line } = record;
  const fail = (code: string, problem: string) => usageError(code, `${file}:${line}: ${problem}`);
  const commas = cells.includes(guardColumn(';'));
  const guardedIndex = cells.indexOf(guardColumn(commas ? ';' : ','));
  const titles = guardedIndex < 0 ? cells : cells.map((cell) => unguardCell(cell, { clearToken, commas }));
  const indexByName = new Map<string, number>();
  const unnamed: number[] = [];
  if (titles.length > maxColumns || titles.join('').length > maxColumnNamesLength) {
    throw fail('MANIFEST_TOO_MANY_COLUMNS', `more than ${maxColumns} columns, or names longer than 1 MiB`);
  }
  for (const [index, title] of titles.entries()) {
    const earlier = indexByName.get(title);
    if (title.trim() === '') unnamed.push(index);
    else if (title.startsWith('_') && !kept.includes(title)) continue;
    else if (earlier === undefined) indexByName.set(title, index);
    else {
      throw fail(
        'MANIFEST_DUPLICATE_COLUMN',
        `columns ${earlier + 1} and ${index + 1} are both called "${title}"; rename or delete one`,
      );
    }
  }
  if (indexByName.size === 0) {
    throw fail('MANIFEST_NO_HEADER', 'the first line names no column; it must hold the column names');
  }
  // A file that was written by a report surely has a header.
  if (guardedIndex < 0 && /^\d+$/.test(titles[0]?.trim() ?? '')) {
    throw fail(
      'MANIFEST_NO_HEADER',
      `the first line looks like data ("${titles[0]}"); it must hold the column names, such as evaluation_id`,
    );
  }
  return {
    names: [...indexByName.keys()],
    indexes: [...indexByName.values()],
    width: titles.length,
    unnamed,
    guardedIndex,
    commas,
  };
}

/** How cells are read. */
export interface CellReading {
  readonly clearToken: string;
  readonly trim: boolean;
}

/**
 * Makes rows of the records that follow the header. Empty cells are left out, cells equal to the clear token become
 * the empty string, and rows marked as guarded lose their guard.
 */
export async function* readCsvRows(
  batches: AsyncIterable<readonly CsvRecord[]>,
  header: CsvHeader,
  reading: CellReading,
): AsyncGenerator<readonly UnnumberedRow[], void, undefined> {
  let isFirst = true;
  for await (const records of batches) {
    const rows = (isFirst ? records.slice(1) : records).map((record) => csvRow(record, header, reading));
    isFirst = false;
    yield rows;
  }
}

function csvRow(
  { cells: values, line, problems }: CsvRecord,
  header: CsvHeader,
  { clearToken, trim }: CellReading,
): UnnumberedRow {
  const { names, indexes, width, guardedIndex, commas } = header;
  const guarded = guardedIndex >= 0 && values[guardedIndex] === 'yes';
  const cells = new Cells();
  for (let column = 0; column < names.length; column++) {
    const raw = values[indexes[column] as number];
    if (raw === undefined || raw === '') continue;
    const name = names[column] as string;
    if (raw === clearToken) {
      cells[name] = '';
      continue;
    }
    const text = guarded ? unguardCell(raw, { clearToken, commas }) : raw;
    const value = trim ? text.trim() : text;
    if (value !== '') cells[name] = value;
  }
  const problem = values.length === width ? strayText(header, values) : wrongWidth(header, values);
  const row = problem === undefined ? { line, cells } : { line, cells, problem };
  return problems === undefined ? row : { ...row, cellProblems: byColumn(problems, header) };
}

function byColumn(
  problems: ReadonlyMap<number, string>,
  { names, indexes }: CsvHeader,
): Readonly<Record<string, string>> {
  const found: Record<string, string> = {};
  for (const [column, name] of names.entries()) {
    const problem = problems.get(indexes[column] as number);
    if (problem !== undefined) found[name] = problem;
  }
  return found;
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
