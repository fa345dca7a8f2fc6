import type { ErrorCode } from '../../../base/errors/error-codes.ts';
import { usageError } from '../../../base/errors/errors.ts';
import { isBlank, trimBlanks } from '../../../base/text/blank.ts';
import { guardColumn, unguardCell } from '../../../base/text/formula-guard.ts';
import { maxColumnNamesLength, maxColumns } from '../columns/column-names.ts';

export interface CsvHeader {
  readonly names: readonly string[];
  readonly indexes: readonly number[];
  /** The number of cells that each record must have. */
  readonly width: number;
  /** The indexes of columns without a name, whose cells must be empty. */
  readonly unnamedColumns: readonly number[];
  /** The index of the column that marks guarded rows, or -1 (see `formula-guard.ts`). */
  readonly guardedIndex: number;
  readonly commas: boolean;
}

/**
 * Reads the header of CSV, without the report's own columns, whose names start with `_`.
 *
 * @param kept own columns to keep
 * @throws CqbatchError (`usage`) when the record has no names, repeats a name, or looks like data
 */
export function readCsvHeader(
  record: { readonly cells: readonly string[]; readonly line: number },
  file: string,
  clearToken: string,
  kept: readonly string[] = [],
): CsvHeader {
  const { cells, line } = record;
  const fail = (code: ErrorCode, problem: string) => usageError(code, `${file}:${line}: ${problem}`);
  const commas = cells.includes(guardColumn(';'));
  const guardedIndex = cells.indexOf(guardColumn(commas ? ';' : ','));
  const titles = guardedIndex < 0 ? cells : cells.map((cell) => unguardCell(cell, { clearToken, commas }));
  const indexByName = new Map<string, number>();
  const unnamedColumns: number[] = [];
  if (titles.length > maxColumns || titles.join('').length > maxColumnNamesLength) {
    throw fail(
      'MANIFEST_TOO_MANY_COLUMNS',
      `more than ${maxColumns} columns, or column names longer than 1 MiB`,
    );
  }
  for (const [index, title] of titles.entries()) {
    const earlier = indexByName.get(title);
    if (isBlank(title)) unnamedColumns.push(index);
    else if (trimBlanks(title).startsWith('_') && !kept.includes(title)) continue;
    else if (earlier === undefined) indexByName.set(title, index);
    else {
      throw fail(
        'MANIFEST_DUPLICATE_COLUMN',
        `columns ${earlier + 1} and ${index + 1} are both called "${title}"; rename or delete one`,
      );
    }
  }
  if (indexByName.size === 0) {
    throw fail('MANIFEST_NO_HEADER', 'the first line has no column names; add them');
  }
  // A file written by a report certainly has a header.
  if (guardedIndex < 0 && /^\d+$/.test(trimBlanks(titles[0] ?? ''))) {
    throw fail(
      'MANIFEST_NO_HEADER',
      `the first line looks like data ("${titles[0]}"); it must have the column names, such as evaluation_id`,
    );
  }
  return {
    names: [...indexByName.keys()],
    indexes: [...indexByName.values()],
    width: titles.length,
    unnamedColumns,
    guardedIndex,
    commas,
  };
}
