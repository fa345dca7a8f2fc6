import { readdir, rename, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { exists } from '../../disk/files.ts';
import { onDisk } from '../../system-error.ts';
import { isOver, type RunRecord } from './record.ts';
import type { RunStore } from './store.ts';

/** Which runs are kept: what one rule keeps no other removes. */
export interface KeepRules {
  /** How many of the newest. */
  readonly last?: number | undefined;
  /** Those that ended in the last days: how many days. */
  readonly days?: number | undefined;
  /** Those with these ids. */
  readonly ids?: ReadonlySet<string>;
}

/**
 * The ids of runs whose manifests are not put away in their inbox. An inbox that is not mounted looks like an empty folder, so
 * only the file that tells that a manifest was put away counts.
 */
export async function awaitedRuns(runs: readonly RunRecord[]): Promise<ReadonlySet<string>> {
  const awaited = new Set<string>();
  for (const { id, keepUntil } of runs) {
    if (keepUntil !== undefined && !(await exists(keepUntil))) awaited.add(id);
  }
  return awaited;
}

/**
 * The runs that are not kept. Runs that tried rows of each other again, or took back what another has done, are kept or
 * removed together: else rows would be called again that a forgotten run has done.
 *
 * @param runs the oldest first
 */
export function prunable(
  runs: readonly RunRecord[],
  { last, days, ids }: KeepRules,
  now: number,
): readonly RunRecord[] {
  if (last === undefined && days === undefined) return [];
  const newest = new Set(last === undefined ? [] : runs.slice(Math.max(0, runs.length - last)));
  const since = days === undefined ? Number.POSITIVE_INFINITY : now - days * 24 * 60 * 60 * 1_000;
  const isKept = (run: RunRecord): boolean =>
    newest.has(run) ||
    ids?.has(run.id) === true ||
    // A row of it may be called yet.
    !isOver(run) ||
    Date.parse(run.states.at(-1)?.at ?? '') >= since;
  const familyOf = families(runs);
  const kept = new Set(runs.filter(isKept).map(familyOf));
  return runs.filter((run) => !kept.has(familyOf(run)));
}

/** The oldest run to which each leads over what it was made of. */
function families(runs: readonly RunRecord[]): (run: RunRecord) => string {
  const first = new Map<string, string>();
  for (const { id, retryOf, undoOf } of runs) {
    const from = retryOf ?? undoOf;
    first.set(id, (from && first.get(from)) ?? id);
  }
  return ({ id }) => first.get(id) ?? id;
}

/** A folder that is being removed; no run has such a name. */
const suffix = '.removed';

/**
 * Removes runs for good. Killed at any point, it leaves each of them whole or unseen.
 *
 * @returns bytes that are free now
 */
export async function removeRuns(store: RunStore, runs: readonly RunRecord[]): Promise<number> {
  let bytes = 0;
  for (const folder of runs.map(({ id }) => store.folder(id))) {
    bytes += await sizeOf(folder);
    await onDisk(folder, () => rename(folder, folder + suffix));
  }
  // What a killed process has left is among them.
  const runsDir = join(store.stateDir, 'runs');
  for (const name of (await readdir(runsDir)).filter((each) => each.endsWith(suffix))) {
    const path = join(runsDir, name);
    await onDisk(path, () => rm(path, { recursive: true, force: true }));
  }
  return bytes;
}

/** Bytes of the files in a folder of a run. */
export async function sizeOf(folder: string): Promise<number> {
  const names = await readdir(folder).catch(() => []);
  const found = await Promise.all(names.map((name) => stat(join(folder, name)).catch(() => undefined)));
  return found.reduce((sum, file) => sum + (file?.size ?? 0), 0);
}
