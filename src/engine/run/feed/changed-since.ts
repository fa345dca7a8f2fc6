import { failedUncalled, noHistory } from '../../../domain/attempts.ts';
import type { RowResult } from '../../../domain/row-result.ts';
import type { Journal } from '../../journal/journal.ts';
import { changeSince } from '../../list/compare-entry.ts';
import type { EntryLists } from '../../list/entry-lists.ts';
import type { ListedEntries } from '../../list/listed-entries.ts';
import type { Operation } from '../../operation/operation.ts';
import { operationNamed } from '../../operation/shown-request.ts';
import type { PlannedRow } from '../../rows/row.ts';
import type { RowsFile } from '../../rows/rows-file.ts';

export interface ListedEntriesNow {
  readonly operations: readonly Operation[];
  /** The lists of the service, read after the rows were compared. */
  readonly lists: EntryLists;
}

/**
 * Results of compared rows whose entries have changed since: they are not called. Each part of the rows gives a part of the results.
 *
 * @param inDatastore rows in the datastore
 */
export async function* resultsOfChanged(
  file: Pick<RowsFile, 'rows'>,
  journal: Pick<Journal, 'isFinished' | 'history' | 'fedEpochOf'>,
  inDatastore: ReadonlySet<number>,
  { operations, lists }: ListedEntriesNow,
): AsyncGenerator<readonly RowResult[]> {
  const isOpen = (place: number): boolean => !journal.isFinished(place) && !inDatastore.has(place);
  for await (const part of file.rows(1, undefined, isOpen)) {
    const results: RowResult[] = [];
    for (const row of part) {
      if (row.kind !== 'callable' || !row.compared || !isOpen(row.place)) continue;
      const operation = operationNamed(operations, row.operation.name);
      const result = resultOf(row, operation, await lists.of(operation), journal);
      if (result !== undefined) results.push(result);
    }
    if (results.length > 0) yield results;
  }
}

function resultOf(
  row: PlannedRow & { readonly kind: 'callable' },
  operation: Operation,
  entries: ListedEntries,
  journal: Pick<Journal, 'history' | 'fedEpochOf'>,
): RowResult | undefined {
  const { place, subject } = row;
  const history = journal.history(place) ?? noHistory;
  const mayBeDone = history.unclear || journal.fedEpochOf(place) !== undefined;
  const change = changeSince(operation, entries.list, row, entries.find(subject), mayBeDone);
  if (change === undefined) return undefined;
  return failedUncalled(history, {
    row: place,
    operation: operation.name,
    code: 'CHANGED_SINCE',
    message: `${operation.thing} ${subject} has changed since it was compared: ${change}`,
    unclear: history.unclear,
  });
}
