import { lutimes, mkdtemp, readdir, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { repeat } from '../async/repeat.ts';
import { type Defer, withScope } from '../async/scope.ts';
import { onDisk } from '../errors/system-error.ts';
import {
  exists,
  ifThere,
  makeFolder,
  removeIfEmpty,
  removeIfPossible,
  statIfAny,
  writeFileAtomically,
} from './files.ts';
import { readJsonFile } from './json-file.ts';
import { staleAfterMs } from './lock-holder.ts';
import { processSchema, stateOfProcess, thisProcess } from './process.ts';

const ownerFile = 'owner.json';

const touchedEveryMs = 10_000;
/** A folder without an owner, unchanged for this long, is abandoned. */
const abandonedAfterMs = 24 * 60 * 60 * 1_000;
/** The process of a folder that is empty for this long died before it named itself the owner. */
const ownedAfterMs = 30_000;
/** A file that is being written changes more often, however large it is. */
const halfDoneAfterMs = 60 * 60 * 1_000;

/** Shows that the process lives, also to processes that can't ask for it, by touching the owner's file until that is gone. */
export async function ownFolder(folder: string): Promise<void> {
  const path = join(folder, ownerFile);
  await writeFileAtomically(path, `${JSON.stringify(thisProcess())}\n`);
  const touches = repeat(
    async () => {
      const now = new Date();
      if ((await ifThere(lutimes(path, now, now).then(() => true))) === undefined) void touches.stop();
    },
    { everyMs: touchedEveryMs },
  );
}

export async function keepFolder(folder: string): Promise<void> {
  await rm(join(folder, ownerFile), { force: true });
}

const temporaryNames = ['plan', 'retry', 'undo', 'lists'] as const;

/**
 * A new temporary folder in the state folder `parent`, after removing those of killed commands. Makes a missing state folder.
 *
 * @param defer removes what was made
 */
export async function temporaryFolder(
  parent: string,
  name: (typeof temporaryNames)[number],
  defer: Defer,
): Promise<string> {
  const isNew = !(await exists(parent));
  const folder = await makeTemporaryFolder(parent, name);
  defer(async () => {
    await rm(folder, { recursive: true, force: true });
    if (isNew) await removeIfEmpty(parent);
  });
  return folder;
}

export function withTemporaryFolder<Result>(
  parent: string,
  name: (typeof temporaryNames)[number],
  work: (folder: string) => Promise<Result>,
): Promise<Result> {
  return withScope(async (defer) => work(await temporaryFolder(parent, name, defer)));
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

/** Removes the folders of killed commands, and their half-written files. */
export async function removeAbandoned(parent: string): Promise<void> {
  await removeHalfDone(parent);
  const names = await readdir(parent);
  for (const name of names.filter((each) => temporaryNames.some((prefix) => each.startsWith(`${prefix}-`)))) {
    const folder = join(parent, name);
    if (await isAbandoned(folder)) await rm(folder, { recursive: true, force: true });
  }
}

/** Removes half-written files of killed commands, as far as possible. */
export async function removeHalfDone(folder: string): Promise<void> {
  const names = (await ifThere(readdir(folder))) ?? [];
  for (const name of names.filter((each) => each.endsWith('.tmp'))) {
    const path = join(folder, name);
    const { mtimeMs = Date.now() } = (await statIfAny(path)) ?? {};
    if (Date.now() - mtimeMs > halfDoneAfterMs) await removeIfPossible(path);
  }
}

export async function isAbandoned(folder: string): Promise<boolean> {
  try {
    return await looksAbandoned(folder);
  } catch {
    // An error for want of rights or file descriptors does not mean that the process is dead.
    return false;
  }
}

async function looksAbandoned(folder: string): Promise<boolean> {
  const path = join(folder, ownerFile);
  const owner = await readJsonFile(path, processSchema, () => undefined);
  if (owner !== undefined) {
    const state = stateOfProcess(owner);
    return state === 'unknown' ? Date.now() - (await stat(path)).mtimeMs > staleAfterMs : state === 'dead';
  }
  const changed = await stat(folder);
  const isEmpty = (await readdir(folder)).every((name) => name.endsWith('.tmp'));
  return Date.now() - changed.mtimeMs > (isEmpty ? ownedAfterMs : abandonedAfterMs);
}
