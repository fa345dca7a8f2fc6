import { mkdtemp, readdir, readFile, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { makeFolder, writeFileAtomically } from './files.ts';
import { processSchema, stateOfProcess, thisProcess } from './process.ts';
import { onDisk } from './system-error.ts';

/** In a folder that is of use only while the process lives that it names. */
const ownerFile = 'owner.json';

/** A folder whose owner can't be asked is abandoned when nothing in it has changed for so long. */
const abandonedAfterMs = 24 * 60 * 60 * 1_000;

/** Makes this process the owner of a folder that it has made. */
export async function ownFolder(folder: string): Promise<void> {
  await writeFileAtomically(join(folder, ownerFile), `${JSON.stringify(thisProcess())}\n`);
}

/** Makes a folder last beyond its owner. */
export async function keepFolder(folder: string): Promise<void> {
  await rm(join(folder, ownerFile), { force: true });
}

/** The commands that need a temporary folder. */
const temporaryNames = ['plan', 'retry', 'undo'] as const;

/**
 * Makes a folder for what is needed during a command only; the command removes it. Folders that commands left behind when
 * they were killed are removed first.
 */
export async function makeTemporaryFolder(
  parent: string,
  name: (typeof temporaryNames)[number],
): Promise<string> {
  await makeFolder(parent);
  return onDisk(parent, async () => {
    await removeAbandonedFolders(parent);
    const folder = await mkdtemp(join(parent, `${name}-`));
    await ownFolder(folder);
    return folder;
  });
}

/** Removes the temporary folders that killed commands left behind. */
export async function removeAbandonedFolders(parent: string): Promise<void> {
  const names = await readdir(parent);
  for (const name of names.filter((each) => temporaryNames.some((own) => each.startsWith(`${own}-`)))) {
    const folder = join(parent, name);
    if (await isAbandoned(folder)) await rm(folder, { recursive: true, force: true });
  }
}

/** Whether the owner of a folder has died and left it behind. */
export async function isAbandoned(folder: string): Promise<boolean> {
  const owner = await readFile(join(folder, ownerFile), 'utf8')
    .then((text) => processSchema.safeParse(JSON.parse(text)).data)
    .catch(() => undefined);
  const state = owner === undefined ? 'unknown' : stateOfProcess(owner);
  if (state !== 'unknown') return state === 'dead';
  const changed = await stat(folder).catch(() => undefined);
  return changed !== undefined && Date.now() - changed.mtimeMs > abandonedAfterMs;
}
