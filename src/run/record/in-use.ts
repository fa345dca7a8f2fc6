import { join } from 'node:path';
import { isLocked } from '../../disk/lock-holder.ts';
import type { RunRecord } from './record.ts';
import type { RunStore } from './store.ts';

/** The path that a process locks to be the only one that works on a run. */
export function runLockPath(runFolder: string): string {
  return join(runFolder, 'run');
}

/**
 * Whether a process still works on a run that has ended: it writes the report, or closes the datastore. Until it has finished,
 * the run can't be resumed.
 */
export async function isInUse(
  { folder, stateDir }: Pick<RunStore, 'folder' | 'stateDir'>,
  { id, process, queue, submitted, states }: RunRecord,
): Promise<boolean> {
  if (await isLocked(runLockPath(folder(id)))) return true;
  // Only a daemon locks a run on the embedded datastore, and keeps the datastore for other runs.
  if (process === undefined || queue !== undefined || submitted) return false;
  const endedAt = states.at(-1)?.at ?? '';
  return isLocked(join(stateDir, 'queue'), ({ pid, since }) => pid === process.pid && since <= endedAt);
}
