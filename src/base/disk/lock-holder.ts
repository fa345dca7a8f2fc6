import { stat } from 'node:fs/promises';
import { z } from 'zod';
import { ifThere } from './files.ts';
import { readJsonFileIfAny } from './json-file.ts';
import { isThisProcess, processSchema, stateOfProcess } from './process.ts';

/** After this long without a touch, the holder is dead, if it can't be asked (other machine). */
export const staleAfterMs = 60_000;

const holderSchema = processSchema.extend({ purpose: z.string(), since: z.string() });

export type Holder = z.infer<typeof holderSchema>;

/** Locks by path: `held` by this process, or `left` because their folder was gone when they were released. */
export const ownLocks = new Map<string, 'held' | 'left'>();

export function filesOf(path: string) {
  return { holderFile: `${path}.holder.json`, lockFile: `${path}.lock` };
}

/** The process that holds a lock. Undefined if the lock is free, and while its holder is taking or releasing it. */
export function readHolder(path: string): Promise<Holder | undefined> {
  return readJsonFileIfAny(filesOf(path).holderFile, holderSchema);
}

export function stateOfHolder(holder: Holder | undefined, path: string): ReturnType<typeof stateOfProcess> {
  const own = ownLocks.get(path);
  if (holder === undefined) return own === 'left' ? 'dead' : 'unknown';
  return isThisProcess(holder) && own !== 'held' ? 'dead' : stateOfProcess(holder);
}

/** How long ago the holder touched its lock, by the file system's clock; undefined when the lock is free. */
export async function lastTouchedAt(lockFile: string): Promise<number | undefined> {
  return (await ifThere(stat(lockFile)))?.mtimeMs;
}

/**
 * Whether a living process has locked a path. Trusts the clock of a holder on another machine, so that it need not wait.
 *
 * @param isMeant selects the holders that count; an unknown holder counts
 */
export async function isLocked(
  path: string,
  isMeant: (holder: Holder) => boolean = () => true,
): Promise<boolean> {
  // A holder removes its name before it removes the lock.
  const touchedAt = await lastTouchedAt(filesOf(path).lockFile);
  if (touchedAt === undefined) return false;
  const holder = await readHolder(path);
  if (holder !== undefined && !isMeant(holder)) return false;
  const state = stateOfHolder(holder, path);
  return state === 'unknown' ? Date.now() - touchedAt < staleAfterMs : state === 'alive';
}
