import type { Defer } from '../../../base/async/scope.ts';
import { usageError } from '../../../base/errors/errors.ts';
import { operationNamed } from '../../operation/shown-request.ts';
import { type ListedEntriesNow, resultsOfChanged } from '../feed/changed-since.ts';
import type { OpenPart, RunInProgress } from './run-in-progress.ts';

/**
 * For a run whose rows were compared with what the service lists: its entries may have changed since, so the lists are read again before
 * rows are fed.
 */
export const openComparison: OpenPart = (inProgress) => {
  const { run, rows } = inProgress;
  if (rows.head.compared === undefined) return {};
  let entries: ListedEntriesNow | undefined;
  return {
    async beforeFeeding(stopping, defer) {
      entries = await entriesNow(inProgress, stopping, defer);
    },
    async *resultsWithoutCall(held) {
      if (entries !== undefined) yield* resultsOfChanged(rows, run.journal, held, entries);
    },
  };
};

/**
 * @returns undefined when the run was stopped before the lists were read
 * @throws the errors of `ListReader.entries`; a usage error `LISTS_UNREADABLE` when this process can't read them
 */
async function entriesNow(
  { run: { record, store }, rows: { head }, options: { openLists } }: RunInProgress,
  stopping: AbortSignal,
  defer: Defer,
): Promise<ListedEntriesNow | undefined> {
  if (openLists === undefined)
    throw usageError(
      'LISTS_UNREADABLE',
      `Run ${record.id} compares its rows with what the service lists, and this process has no token to read the lists: start it with one.`,
    );
  try {
    const lists = await openLists(stopping, defer);
    for (const { name, counts } of head.operations)
      if (counts.callable > 0) await lists.of(operationNamed(store.operations, name));
    return { operations: store.operations, lists };
  } catch (error) {
    if (stopping.aborted) return undefined;
    throw error;
  }
}
