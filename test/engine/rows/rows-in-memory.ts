import type { DecidedRow, PlannedOperation } from '../../../src/engine/rows/row.ts';
import { RowTally } from '../../../src/engine/rows/row-counts.ts';
import { cutCallable, encodeRow } from '../../../src/engine/rows/row-line.ts';
import type { RowsFile } from '../../../src/engine/rows/rows-file.ts';

type Head = RowsFile['head'];

/** What the head of a file says of an operation. */
function headOf(operation: PlannedOperation, decided: readonly DecidedRow[]) {
  const tally = new RowTally(operation);
  for (const row of decided)
    if (row.kind === 'callable' && row.operation === operation) tally.countCallable(row, false);
  const { fields: effects, ...counts } = tally.summary();
  return { ...operation, counts, effects };
}

/** Rows of a run that are in no file. */
export function rowsInMemory(
  decided: readonly DecidedRow[],
): Pick<RowsFile, 'rows' | 'callableLines' | 'numbers'> & { readonly head: Head } {
  const operations = [...new Set(decided.flatMap(({ operation }) => operation ?? []))];
  return {
    head: { operations: operations.map((operation) => headOf(operation, decided)) } as unknown as Head,
    async *rows(from = 1, to = decided.length, isWanted = () => true) {
      yield decided
        .map((row, index) => ({ ...row, place: index + 1, cells: [] }))
        .filter(({ place }) => place >= from && place <= to && isWanted(place));
    },
    async *callableLines(to = decided.length, isWanted = () => true) {
      yield decided.slice(0, to).flatMap((row, index) => {
        const op = row.operation && operations.indexOf(row.operation);
        const cut = cutCallable(encodeRow(row, [], op));
        return cut === undefined || !isWanted(index + 1) ? [] : [{ place: index + 1, ...cut }];
      });
    },
    numbers: async () => (place) => decided[place - 1]?.row ?? place,
  };
}
