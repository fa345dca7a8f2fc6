import { join } from 'node:path';
import { fatalError } from '../errors.ts';
import { lockPath, type ProcessLock } from '../lock.ts';

/**
 * Makes this process the only one that works on a run, among all that see its folder.
 *
 * @throws a fatal error `RUN_LOCKED` that names the process which works on it.
 */
export function lockRun(runFolder: string, runId: string, purpose: string): Promise<ProcessLock> {
  return lockPath({
    path: join(runFolder, 'run'),
    purpose,
    taken: (who) =>
      fatalError(
        'RUN_LOCKED',
        `Run ${runId} is being worked on by ${who}. Wait for its end, or cancel it with "cqbatch cancel ${runId}".`,
      ),
  });
}
