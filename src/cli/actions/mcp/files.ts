import { realpath } from 'node:fs/promises';
import { basename, dirname, join, relative, resolve, sep } from 'node:path';
import { usageError } from '../../../errors.ts';
import { planSuffix } from '../../../index.ts';
import { escapeInvisible } from '../../../text/printable.ts';
import { type Flags, stateDirOf } from '../../config/load.ts';

/** Files of other kinds, such as one with a token, are not read: a plan quotes what it reads. */
const manifestNames = /\.(?:csv|tsv|json|jsonl|ndjson|xlsx)(?:\.gz)?$/i;

/**
 * The path of a manifest that an agent names.
 *
 * @throws a usage error `FILE_NOT_ALLOWED`
 */
export async function manifestOfAgent(given: string, flags: Flags): Promise<string> {
  if (!manifestNames.test(given)) throw notAllowed(given, 'is not named like a manifest, such as rows.csv');
  return inFolder(given, flags);
}

/**
 * The path of a plan that an agent names.
 *
 * @throws a usage error `FILE_NOT_ALLOWED`
 */
export async function planOfAgent(given: string, flags: Flags): Promise<string> {
  if (!given.endsWith(planSuffix)) throw notAllowed(given, `does not end with ${planSuffix}`);
  // A schedule or an inbox takes rows.csv.cqplan as the plan of its manifest.
  if (manifestNames.test(given.slice(0, -planSuffix.length)))
    throw notAllowed(given, 'is named like the plan of a schedule; choose a name such as week-47.cqplan');
  return inFolder(given, flags);
}

/** Only files in the folder where the server was started, links resolved, but not in the state folder. */
async function inFolder(given: string, flags: Flags): Promise<string> {
  const [root, state] = await Promise.all([realFile('.'), realFile(stateDirOf(flags))]);
  const path = await realFile(given);
  if (!path.startsWith(root + sep)) throw notAllowed(given, `is not in the folder ${root}`);
  if (path.startsWith(state + sep)) throw notAllowed(given, 'is in the state folder');
  return relative(root, path);
}

/** The real path, also of a file that does not exist yet. */
async function realFile(path: string): Promise<string> {
  const full = resolve(path);
  try {
    return await realpath(full);
  } catch {
    const folder = await realpath(dirname(full)).catch(() => dirname(full));
    return join(folder, basename(full));
  }
}

function notAllowed(given: string, why: string) {
  return usageError('FILE_NOT_ALLOWED', `${escapeInvisible(given)} ${why}: an agent can't use it.`);
}
