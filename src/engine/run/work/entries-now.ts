import type { Defer } from '../../../base/async/scope.ts';
import { usageError } from '../../../base/errors/errors.ts';
import { operationNamed } from '../../operation/shown-request.ts';
import type { RowsFile } from '../../rows/rows-file.ts';
import type { EntriesNow } from '../feed/changed-since.ts';
import type { StopReason } from '../feed/coordinator.ts';
import type { OpenRun } from '../record/open-run.ts';
import type { RunContext } from './execution-options.ts';
import { onStop, type Stops } from './on-stop.ts';

interface ReadingOptions extends Stops, Pick<RunContext, 'openLists'> {
  readonly rows: Pick<RowsFile, 'head'>;
}

/**
 * Reads the lists of a run whose rows were compared: its entries may have changed since.
 *
 * @returns undefined for another run; a reason to stop that came before the lists were read
 * @throws the errors of `ListReader.entries`; a usage error `LISTS_UNREADABLE` when this process can't read them
 */
export async function entriesNow(
  { record, store, lost }: OpenRun,
  { rows: { head }, openLists, ...stops }: ReadingOptions,
  defer: Defer,
): Promise<EntriesNow | StopReason | undefined> {
  if (head.compared === undefined) return undefined;
  if (openLists === undefined)
    throw usageError(
      'LISTS_UNREADABLE',
      `Run ${record.id} compares its rows with what the service lists, and this process has no token to read the lists: start it with one.`,
    );
  const stopped = new AbortController();
  const forget = onStop(stops, (reason) => stopped.abort(reason));
  try {
    const lists = await openLists(AbortSignal.any([stopped.signal, lost]), defer);
    for (const { name, counts } of head.operations)
      if (counts.callable > 0) await lists.of(operationNamed(store.operations, name));
    return { operations: store.operations, lists };
  } catch (error) {
    lost.throwIfAborted();
    if (stopped.signal.aborted) return stopped.signal.reason as StopReason;
    throw error;
  } finally {
    forget();
  }
}
