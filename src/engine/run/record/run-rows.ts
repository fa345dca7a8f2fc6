import { join } from 'node:path';
import { hashFile } from '../../../base/disk/hash-file.ts';
import { usageError } from '../../../base/errors/errors.ts';
import { onDisk } from '../../../base/errors/system-error.ts';
import { findOperation } from '../../operation/operation.ts';
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

/** @throws a usage error `ROWS_CHANGED` if they are not the planned rows, a fatal error `ROWS_MISSING` */
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
