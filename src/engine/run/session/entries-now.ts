import type { Defer } from '../../../base/async/scope.ts';
import { onAbort } from '../../../base/async/waiting.ts';
import { usageError } from '../../../base/errors/errors.ts';
import { operationNamed } from '../../operation/shown-request.ts';
import type { RowsFile } from '../../rows/rows-file.ts';
import type { EntriesNow } from '../feed/changed-since.ts';
import type { StopReason } from '../feed/coordinator.ts';
import type { OpenRun } from '../record/open-run.ts';
import { budgetSpent } from '../record/run-outcome.ts';
import type { ControlWatch } from './control.ts';
import type { RunContext } from './execution-options.ts';

interface ReadingOptions extends Pick<RunContext, 'openLists' | 'interrupt'> {
  readonly rows: Pick<RowsFile, 'head'>;
  /** Aborted with the name of the limit. */
  readonly deadline: AbortSignal;
  readonly controls: ControlWatch;
}

/**
 * Reads the lists of a run whose rows were compared: its entries may have changed since.
 *
 * @returns undefined for another run; a reason to stop that came before the lists were read
 * @throws the errors of `ListReader.entries`; a usage error `LISTS_UNREADABLE` when this process can't read them
 */
export async function entriesNow(
  { record, store, lost }: OpenRun,
  { rows: { head }, openLists, interrupt, deadline, controls }: ReadingOptions,
  defer: Defer,
): Promise<EntriesNow | StopReason | undefined> {
  if (head.compared === undefined) return undefined;
  if (openLists === undefined)
    throw usageError(
      'LISTS_UNREADABLE',
      `Run ${record.id} compares its rows with what the service lists, and this process has no token to read the lists: start it with one.`,
    );
  const stopped = new AbortController();
  const stop = (reason: StopReason) => stopped.abort(reason);
  const listeners = [
    onAbort(interrupt, () => stop({ state: 'interrupted' })),
    onAbort(deadline, () => stop(budgetSpent(deadline.reason))),
    controls.on(['pause', 'cancel'], ({ command, ...attribution }) =>
      stop({ state: command === 'cancel' ? 'cancelled' : 'paused', ...attribution }),
    ),
  ];
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
    for (const forget of listeners) forget();
  }
}
