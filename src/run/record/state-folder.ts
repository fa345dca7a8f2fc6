import { access, constants, lstat, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { closeIfOpen, isWritableByOthers } from '../../disk/files.ts';
import { fatalError, usageError } from '../../errors.ts';
import { systemError } from '../../system-error.ts';

const folderNames = ['queue', 'runs', 'problems', 'schedules'];
/** What cqbatch makes in a state folder; `config.json`, and whatever else is in it, is the user's own. */
const ownNames = [
  ...folderNames,
  'queue.new',
  'queue.lock',
  'queue.holder.json',
  'id',
  'limits.json',
  'targets.json',
];

/**
 * Looks at a state folder before a command works in it, and closes what cqbatch has in it to other users: earlier
 * versions, or somebody's hand, may have left it open. It need not exist yet.
 *
 * @returns what does not prevent the command, one sentence each, with its remedy.
 * @throws a usage error `STATE_DIR_UNUSABLE` when the path can't be that of a folder, a fatal error
 *   `STATE_DIR_MISSING` when a symbolic link leads to nothing: what is there at other times would be taken for lost.
 */
export async function checkStateFolder(stateDir: string): Promise<readonly string[]> {
  await requireFolder(stateDir);
  for (const name of folderNames) await refuseDanglingLink(join(stateDir, name));
  await Promise.all(ownNames.map((name) => closeIfOpen(join(stateDir, name))));
  if (!(await isWritableByOthers(stateDir))) return [];
  return [
    `other users may write to the state folder ${stateDir}, and so replace runs and their results: type ` +
      `"chmod go-w ${stateDir}", or choose another folder with --state-dir.`,
  ];
}

async function requireFolder(stateDir: string): Promise<void> {
  if (stateDir === '') throw usageError('INVALID_SETTING', '--state-dir "": write the path of a folder.');
  try {
    await refuseDanglingLink(stateDir);
    const found = await stat(stateDir);
    if (!found.isDirectory()) throw unusable(`the state folder ${stateDir} is not a folder`);
    await access(stateDir, constants.R_OK | constants.X_OK);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT') return;
    const known = systemError(error, stateDir);
    throw known?.code === 'PATH_UNUSABLE' ? unusable(known.what) : (known ?? error);
  }
}

function unusable(what: string): Error {
  return usageError('STATE_DIR_UNUSABLE', `${what}: name a folder with --state-dir.`);
}

async function refuseDanglingLink(path: string): Promise<void> {
  // A slash at its end would follow the link.
  const found = await lstat(path.replace(/(?<=.)\/+$/, '')).catch(() => undefined);
  if (found?.isSymbolicLink() !== true) return;
  const code = await stat(path).then(
    () => undefined,
    (error: NodeJS.ErrnoException) => error.code,
  );
  if (code !== 'ENOENT') return;
  throw fatalError(
    'STATE_DIR_MISSING',
    `${path} is a symbolic link to a folder that is not there: mount or make that folder, or remove the link.`,
  );
}
