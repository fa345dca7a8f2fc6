import { join } from 'node:path';
import { statIfAny } from '../../../base/disk/files.ts';
import { isLocked, staleAfterMs } from '../../../base/disk/lock-holder.ts';
import { isSameProcess, type ProcessId, stateOfProcess } from '../../../base/disk/process.ts';
import { isActive } from '../../cluster/entries.ts';
import type { RunRecord } from './record.ts';

export function runLockPath(runFolder: string): string {
  return join(runFolder, 'run');
}

interface RunFolders {
  readonly stateDir: string;
  readonly folder: (id: string) => string;
}

/** Whether a process still writes the report or closes the datastore: then the run can't be resumed. */
export async function isInUse({ folder, stateDir }: RunFolders, record: RunRecord): Promise<boolean> {
  const { id, process, queue, submitted, states } = record;
  if (await isLocked(runLockPath(folder(id)))) return true;
  // On the embedded datastore only a daemon locks a run, and keeps the datastore for other runs.
  if (process === undefined || queue !== undefined || submitted) return false;
  return holdsDatastore(stateDir, process, states.at(-1)?.at);
}

/** @param since a time after the process took the datastore */
function holdsDatastore(stateDir: string, process: ProcessId, since?: string): Promise<boolean> {
  const isMeant = (holder: ProcessId & { readonly since: string }) =>
    isSameProcess(holder, process) && (since === undefined || holder.since <= since);
  return isLocked(join(stateDir, 'queue'), isMeant);
}

/**
 * Forgets the process of a run if that process has another host name and shows no sign of life: for a minute it has neither touched a lock
 * nor the record. A killed container or a laptop in another network leaves such records, and no later process can ask for that process.
 */
export async function withoutLostProcess(
  { folder, stateDir }: RunFolders,
  recordPath: string,
  record: RunRecord,
): Promise<RunRecord> {
  const { process, ...rest } = record;
  if (process === undefined || !isActive(record.state) || stateOfProcess(process) !== 'unknown')
    return record;
  const savedAt = (await statIfAny(recordPath))?.mtimeMs ?? Date.now();
  const isAlive =
    Date.now() - savedAt < staleAfterMs ||
    (await isLocked(runLockPath(folder(record.id)))) ||
    (await holdsDatastore(stateDir, process));
  return isAlive ? record : rest;
}
