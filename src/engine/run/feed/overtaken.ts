import { failedUncalled, noHistory, perhapsCalled } from '../../../domain/attempts.ts';
import type { AttemptHistory, RowResult } from '../../../domain/row-result.ts';
import type { Journal } from '../../journal/journal.ts';
import type { RowsFile } from '../../rows/rows-file.ts';
import { subjectOf } from './row-order.ts';

type OpenRow = Pick<RowResult, 'row' | 'operation'>;

/**
 * Results of rows after which another row of their subject was fed: a disk has lost their results. Called again, they would take back what
 * the later row did.
 *
 * @param inDatastore rows in the datastore
 */
export async function resultsOfOvertaken(
  file: Pick<RowsFile, 'rows'>,
  journal: Pick<Journal, 'isFinished' | 'lastRow' | 'history'>,
  inDatastore: ReadonlySet<number>,
): Promise<readonly RowResult[]> {
  const last = [...inDatastore].reduce((most, place) => Math.max(most, place), journal.lastRow);
  let first = 1;
  while (journal.isFinished(first)) first += 1;
  if (first >= last) return [];
  /** Rows without a result, by subject: a later row may follow. */
  const open = new Map<string, OpenRow[]>();
  const overtaken: OpenRow[] = [];
  for await (const part of file.rows(first, last)) {
    for (const row of part) {
      if (row.kind !== 'callable') continue;
      const { place, operation, subject } = row;
      const key = subjectOf({ operation: operation.name, subject });
      const before = open.get(key) ?? [];
      if (journal.isFinished(place) || inDatastore.has(place)) {
        overtaken.push(...before);
        open.delete(key);
      } else open.set(key, [...before, { row: place, operation: operation.name }]);
    }
  }
  return overtaken.map((row) => resultOf(row, journal.history(row.row)));
}

function resultOf({ row, operation }: OpenRow, history: AttemptHistory = noHistory): RowResult {
  return failedUncalled(history.unclear ? history : perhapsCalled(history), {
    row,
    operation,
    code: 'RESULT_LOST',
    message: 'the disk lost the result of this row, and a later row of its entry was called since',
    unclear: true,
  });
}
