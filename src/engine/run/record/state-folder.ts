import { randomUUID } from 'node:crypto';
import { access, constants, lstat, readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import {
  closeIfOpen,
  createFile,
  exists,
  ifThere,
  isWritableByOthers,
  makeFolder,
} from '../../../base/disk/files.ts';
import { fatalError, usageError } from '../../../base/errors/errors.ts';
import { onDisk, systemError } from '../../../base/errors/system-error.ts';
import { shellWord } from '../../../base/text/command-words.ts';

const folderNames = ['queue', 'runs', 'problems', 'changes', 'pages', 'schedules'];
/** Other files in a state folder, and `config.json`, belong to the user. */
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
 * Closes cqbatch's files to other users: an earlier version or a user may have left them open. The folder need not exist.
 *
 * @returns warnings, one sentence each, with the remedy
 * @throws a usage error `STATE_DIR_UNUSABLE` when the path can't be a folder, a fatal error `STATE_DIR_MISSING` for a dangling symbolic
 *   link: creating a folder would make existing runs look lost
 */
export async function checkStateFolder(stateDir: string): Promise<readonly string[]> {
  await requireFolder(stateDir);
  for (const name of folderNames) await refuseDanglingLink(join(stateDir, name));
  await Promise.all(ownNames.map((name) => closeIfOpen(join(stateDir, name))));
  if (!(await isWritableByOthers(stateDir))) return [];
  return [
    `other users can write to the state folder ${stateDir}, and so replace runs and results: type ` +
      `"chmod go-w ${shellWord(stateDir)}", or choose another folder with --state-dir.`,
  ];
}

async function requireFolder(stateDir: string): Promise<void> {
  if (stateDir === '') throw usageError('INVALID_SETTING', '--state-dir "": write the path of a folder.');
  try {
    await refuseDanglingLink(stateDir);
    const found = await ifThere(stat(stateDir));
    if (found === undefined) return;
    if (!found.isDirectory()) throw unusableFolder(`the state folder ${stateDir} is not a folder`);
    await access(stateDir, constants.R_OK | constants.X_OK);
  } catch (error) {
    const known = systemError(error, stateDir);
    throw known?.code === 'PATH_UNUSABLE' ? unusableFolder(known.what) : (known ?? error);
  }
}

function unusableFolder(what: string): Error {
  return usageError('STATE_DIR_UNUSABLE', `${what}: name a folder with --state-dir.`);
}

async function refuseDanglingLink(path: string): Promise<void> {
  // With a trailing slash, lstat would follow the link.
  const found = await lstat(path.replace(/(?<=.)\/+$/, '')).catch(() => undefined);
  if (found?.isSymbolicLink() !== true) return;
  if ((await onDisk(path, () => ifThere(stat(path)))) !== undefined) return;
  throw fatalError(
    'STATE_DIR_MISSING',
    `${path} is a symbolic link to a folder that doesn't exist: mount or create that folder, or remove the link.`,
  );
}

/** The id of a state folder, created at first use: the same from any machine and path. */
export async function stateId(stateDir: string): Promise<string> {
  await makeFolder(stateDir);
  const path = join(stateDir, 'id');
  return onDisk(path, async () => {
    // Processes that create an id at the same time all read the first.
    if (!(await exists(path))) await createFile(path, `${randomUUID()}\n`);
    return (await readFile(path, 'utf8')).trim();
  });
}
