import { join } from 'node:path';
import { hashFile } from '../../../base/disk/hash-file.ts';
import { usageError } from '../../../base/errors/errors.ts';
import { onDisk } from '../../../base/errors/system-error.ts';
import type { JournalView } from '../../journal/journal.ts';
import { findOperation } from '../../operation/operation.ts';
import { shownRequest } from '../../operation/shown-request.ts';
import { openRows, type RowsFile } from '../../rows/rows-file.ts';
import type { RunRecord } from './record.ts';
import type { RunStore } from './store.ts';

export const rowsFile = 'rows.jsonl';

/** @throws a fatal error `ROWS_MISSING` or `ROWS_DAMAGED` */
export function openRunRows(
  store: Pick<RunStore, 'folder'>,
  { id }: Pick<RunRecord, 'id'>,
): Promise<RowsFile> {
  return openRows(join(store.folder(id), rowsFile));
}

/** @throws a usage error `OPERATION_MISSING` when the user's own operations are not loaded */
export function requireOperations({ operations }: RunStore, { id, plan }: RunRecord): void {
  const missing = plan.operations.filter((name) => findOperation(operations, name) === undefined);
  if (missing.length === 0) return;
  throw usageError(
    'OPERATION_MISSING',
    `Run ${id} needs the operation ${missing.join(', ')}, which is not built in: pass --operations with the module ` +
      'that it was planned with, or set CQBATCH_OPERATIONS.',
  );
}

const checkedRows = 500;

/**
 * Makes the next requests of a run before any row is called. Later ones are made and compared right before their calls.
 *
 * @throws the errors of `shownRequest`
 */
export async function refuseOtherRequests(
  { operations }: Pick<RunStore, 'operations'>,
  { head, rows }: RowsFile,
  journal: Pick<JournalView, 'isFinished'>,
): Promise<void> {
  let first = 1;
  while (first <= head.counts.rows && journal.isFinished(first)) first += 1;
  const last = Math.min(head.counts.rows, first + checkedRows - 1);
  for await (const part of rows(first, last, (place) => !journal.isFinished(place)))
    for (const row of part)
      if (row.kind === 'callable') shownRequest(operations, { ...row, operation: row.operation.name });
}

/** @throws a usage error `ROWS_CHANGED` if the rows are not the planned ones, a fatal error `ROWS_MISSING` */
export async function refuseChangedRows(store: RunStore, record: RunRecord): Promise<void> {
  const { path } = await openRunRows(store, record);
  const { sha256 } = await onDisk(path, () => hashFile(path));
  if (sha256 === record.rows.sha256) return;
  throw usageError(
    'ROWS_CHANGED',
    `${path} was changed after run ${record.id} was planned, so nothing is sent. Put the original back (its SHA-256 is in run.json), or ` +
      `type "cqbatch cancel ${record.id}" and plan the manifest again.`,
  );
}
