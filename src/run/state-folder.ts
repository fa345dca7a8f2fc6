import { join } from 'node:path';
import { closeIfOpen, isWritableByOthers } from '../private-files.ts';

/** What cqbatch makes in a state folder; `config.json`, and whatever else is in it, is the user's own. */
const ownNames = ['queue', 'queue.new', 'queue.lock', 'queue.holder.json', 'runs', 'problems', 'limits.json'];

/**
 * Looks at a state folder before a command works in it, and closes what cqbatch has in it to other users: earlier
 * versions, or somebody's hand, may have left it open.
 *
 * @returns what does not prevent the command, one sentence each, with its remedy.
 */
export async function checkStateFolder(stateDir: string): Promise<readonly string[]> {
  await Promise.all(ownNames.map((name) => closeIfOpen(join(stateDir, name))));
  if (!(await isWritableByOthers(stateDir))) return [];
  return [
    `other users may write to the state folder ${stateDir}, and so replace runs and their results: type ` +
      `"chmod go-w ${stateDir}", or choose another folder with --state-dir.`,
  ];
}
