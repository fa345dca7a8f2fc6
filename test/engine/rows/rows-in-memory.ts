import type { DecidedRow } from '../../../src/engine/rows/row.ts';
import type { RowsFile } from '../../../src/engine/rows/rows-file.ts';

/** Rows of a run that are in no file. */
export function rowsInMemory(decided: readonly DecidedRow[]): Pick<RowsFile, 'rows' | 'numbers'> {
  return {
    async *rows(from = 1, to = decided.length, isWanted = () => true) {
      yield decided
        .map((row, index) => ({ ...row, place: index + 1, cells: [] }))
        .filter(({ place }) => place >= from && place <= to && isWanted(place));
    },
    numbers: async () => (place) => decided[place - 1]?.row ?? place,
  };
}
