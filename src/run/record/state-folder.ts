import { randomUUID } from 'node:crypto';
import { access, constants, link, lstat, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { closeIfOpen, ifThere, isWritableByOthers, makeFolder } from '../../disk/files.ts';
import { fatalError, usageError } from '../../errors.ts';
import { onDisk, systemError } from '../../system-error.ts';

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
 * Looks at a state folder before a command works in it, and closes what cqbatch has in it to other users: an earlier version or
 * a user may have left it open. It need not exist yet.
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
    `other users can write to the state folder ${stateDir}, and so replace runs and results: type ` +
      `"chmod go-w ${stateDir}", or choose another folder with --state-dir.`,
  ];
}

async function requireFolder(stateDir: string): Promise<void> {
  if (stateDir === '') throw usageError('INVALID_SETTING', '--state-dir "": write the path of a folder.');
  try {
    await refuseDanglingLink(stateDir);
    const found = await ifThere(stat(stateDir));
    if (found === undefined) return;
    if (!found.isDirectory()) throw unusable(`the state folder ${stateDir} is not a folder`);
    await access(stateDir, constants.R_OK | constants.X_OK);
  } catch (error) {
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
  const target = await ifThere(stat(path)).catch(() => 'in trouble, which others tell');
  if (target !== undefined) return;
  throw fatalError(
    'STATE_DIR_MISSING',
    `${path} is a symbolic link to a folder that doesn't exist: mount or create that folder, or remove the link.`,
  );
}

/**
 * What tells a state folder from every other one, on whatever machine and at whatever path it is seen: drawn when it is first
 * asked for, and kept in it.
 */
export async function stateId(stateDir: string): Promise<string> {
  await makeFolder(stateDir);
  const path = join(stateDir, 'id');
  const temporary = `${path}.${process.pid}.tmp`;
  const read = async (): Promise<string> => (await ifThere(readFile(path, 'utf8')))?.trim() ?? '';
  return onDisk(path, async () => {
    const known = await read();
    if (known !== '') return known;
    try {
      await writeFile(temporary, `${randomUUID()}\n`, { mode: 0o600 });
      // Processes that draw one at the same time all get the first that is in its place.
      await link(temporary, path).catch((error: NodeJS.ErrnoException) => {
        if (error.code !== 'EEXIST') throw error;
      });
    } finally {
      await rm(temporary, { force: true });
    }
    return read();
  });
}
