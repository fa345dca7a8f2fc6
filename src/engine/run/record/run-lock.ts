import { join } from 'node:path';
import { isLocked } from '../../../base/disk/lock-holder.ts';
import type { RunRecord } from './record.ts';
import type { RunStore } from './store.ts';

export function runLockPath(runFolder: string): string {
  return join(runFolder, 'run');
}

/** Whether a process still writes the report or closes the datastore: then the run can't be resumed. */
export async function isInUse(
  { folder, stateDir }: Pick<RunStore, 'folder' | 'stateDir'>,
  { id, process, queue, submitted, states }: RunRecord,
): Promise<boolean> {
  if (await isLocked(runLockPath(folder(id)))) return true;
  // On the embedded datastore only a daemon locks a run, and keeps the datastore for other runs.
  if (process === undefined || queue !== undefined || submitted) return false;
  const endedAt = states.at(-1)?.at ?? '';
  return isLocked(join(stateDir, 'queue'), ({ pid, since }) => pid === process.pid && since <= endedAt);
}
