import { stat } from 'node:fs/promises';
import { z } from 'zod';
import { ifThere } from './files.ts';
import { readJsonFileIfAny } from './json-file.ts';
import { isThisProcess, processSchema, stateOfProcess } from './process.ts';

/** A lock that was not touched for this long has no living holder, if the holder can't be asked (other machine). */
export const staleAfterMs = 60_000;

const holderSchema = processSchema.extend({ purpose: z.string(), since: z.string() });

/** The process that holds a lock. */
export type Holder = z.infer<typeof holderSchema>;

/** By path: locks that this process holds, and `left` ones, which it could not remove because their folder was gone. */
export const ownLocks = new Map<string, 'held' | 'left'>();

/** The files of the lock on a path. */
export function filesOf(path: string) {
  return { holderFile: `${path}.holder.json`, lockFile: `${path}.lock` };
}

/** The holder of the lock on a path. Undefined if the lock is free, and while its holder is just taking or releasing it. */
export function readHolder(path: string): Promise<Holder | undefined> {
  return readJsonFileIfAny(filesOf(path).holderFile, holderSchema);
}

/** Whether a holder lives. A lock that this process could not remove (`left`) counts as the lock of a dead process. */
export function stateOfHolder(holder: Holder | undefined, path: string): ReturnType<typeof stateOfProcess> {
  const own = ownLocks.get(path);
  if (holder === undefined) return own === 'left' ? 'dead' : 'unknown';
  return isThisProcess(holder) && own !== 'held' ? 'dead' : stateOfProcess(holder);
}

/** When a lock was touched last, in milliseconds of the file system's clock; undefined when it is free. */
export async function lastTouched(lockFile: string): Promise<number | undefined> {
  return (await ifThere(stat(lockFile)))?.mtimeMs;
}

/**
 * Whether a living process holds the lock on a path. Does not wait: it trusts the clock of a holder on another machine.
 *
 * @param isMeant selects the holders that count; an unknown holder counts
 */
export async function isLocked(
  path: string,
  isMeant: (holder: Holder) => boolean = () => true,
): Promise<boolean> {
  // In this order: a holder removes its name before it removes the lock.
  const touchedAt = await lastTouched(filesOf(path).lockFile);
  if (touchedAt === undefined) return false;
  const holder = await readHolder(path);
  if (holder !== undefined && !isMeant(holder)) return false;
  const state = stateOfHolder(holder, path);
  return state === 'unknown' ? Date.now() - touchedAt < staleAfterMs : state === 'alive';
}
