import { mkdtemp, readdir, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { onDisk } from '../errors/system-error.ts';
import {
  exists,
  ifThere,
  look,
  makeFolder,
  removeIfEmpty,
  removeIfPossible,
  writeFileAtomically,
} from './files.ts';
import { readJsonFile } from './json-file.ts';
import { processSchema, stateOfProcess, thisProcess } from './process.ts';

/** Names the process that a folder belongs to. The folder is useless once that process has ended. */
const ownerFile = 'owner.json';

/** If the owner can't be asked (other machine, or no owner), a folder unchanged for this long is abandoned. */
const abandonedAfterMs = 24 * 60 * 60 * 1_000;
/** A folder gets its owner at once: if empty for this long, its process has died in between. */
const ownedAfterMs = 30_000;
/** A file that is being written changes more often, however large it is. */
const halfDoneAfterMs = 60 * 60 * 1_000;

export async function ownFolder(folder: string): Promise<void> {
  await writeFileAtomically(join(folder, ownerFile), `${JSON.stringify(thisProcess())}\n`);
}

/** Removes the owner: the folder outlives its process. */
export async function keepFolder(folder: string): Promise<void> {
  await rm(join(folder, ownerFile), { force: true });
}

/** Commands that need a temporary folder. */
const temporaryNames = ['plan', 'retry', 'undo'] as const;

/**
 * Uses a new temporary folder in the state folder `parent`, after removing those of killed commands. A missing state folder is made, and
 * removed afterwards.
 */
export async function withTemporaryFolder<Result>(
  parent: string,
  name: (typeof temporaryNames)[number],
  work: (folder: string) => Promise<Result>,
): Promise<Result> {
  const isNew = !(await exists(parent));
  const folder = await makeTemporaryFolder(parent, name);
  try {
    return await work(folder);
  } finally {
    await rm(folder, { recursive: true, force: true });
    // The state folder stays if it has other content now.
    if (isNew) await removeIfEmpty(parent);
  }
}

async function makeTemporaryFolder(parent: string, name: (typeof temporaryNames)[number]): Promise<string> {
  await makeFolder(parent);
  return onDisk(parent, async () => {
    await removeAbandoned(parent);
    const folder = await mkdtemp(join(parent, `${name}-`));
    await ownFolder(folder);
    return folder;
  });
}

/** Removes what killed commands have left in a state folder: temporary folders and half-written files. */
export async function removeAbandoned(parent: string): Promise<void> {
  await removeHalfDone(parent);
  const names = await readdir(parent);
  for (const name of names.filter((each) => temporaryNames.some((prefix) => each.startsWith(`${prefix}-`)))) {
    const folder = join(parent, name);
    if (await isAbandoned(folder)) await rm(folder, { recursive: true, force: true });
  }
}

/** Removes what killed commands have left half-written (`….tmp`), as far as possible. */
export async function removeHalfDone(folder: string): Promise<void> {
  const names = (await ifThere(readdir(folder))) ?? [];
  for (const name of names.filter((each) => each.endsWith('.tmp'))) {
    const path = join(folder, name);
    const { mtimeMs = Date.now() } = (await look(path)) ?? {};
    if (Date.now() - mtimeMs > halfDoneAfterMs) await removeIfPossible(path);
  }
}

/** Whether the owner died without removing the folder. */
export async function isAbandoned(folder: string): Promise<boolean> {
  try {
    return await looksAbandoned(folder);
  } catch {
    // What can't be read now, for want of rights or file descriptors, may belong to a living process.
    return false;
  }
}

async function looksAbandoned(folder: string): Promise<boolean> {
  const owner = await readJsonFile(join(folder, ownerFile), processSchema, () => undefined);
  const state = owner === undefined ? 'unknown' : stateOfProcess(owner);
  if (state !== 'unknown') return state === 'dead';
  const changed = await stat(folder);
  const isEmpty = (await readdir(folder)).every((name) => name.endsWith('.tmp'));
  return Date.now() - changed.mtimeMs > (isEmpty ? ownedAfterMs : abandonedAfterMs);
}
