import { readdir, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { exists, ifThere, statIfAny } from '../../../base/disk/files.ts';
import { onDisk } from '../../../base/errors/system-error.ts';
import { isOver, type RunRecord } from './record.ts';
import type { RunStore } from './store.ts';

/** A run is kept if any rule matches. */
export interface KeepRules {
  readonly last?: number | undefined;
  readonly days?: number | undefined;
  readonly ids?: ReadonlySet<string>;
}

/**
 * Runs whose manifests are not archived yet. An unmounted inbox looks like an empty folder, so only the file that records the archiving
 * counts.
 */
export async function runsWithAwaitedManifests(runs: readonly RunRecord[]): Promise<ReadonlySet<string>> {
  const awaited = new Set<string>();
  for (const { id, keepUntil } of runs) {
    if (keepUntil !== undefined && !(await exists(keepUntil))) awaited.add(id);
  }
  return awaited;
}

/**
 * Keeps or removes a run, its retries and its undos together: otherwise rows that a removed run has done would be called again.
 *
 * @param runs all runs, oldest first
 */
export function prunableRuns(
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
    !isOver(run) ||
    Date.parse(run.states.at(-1)?.at ?? '') >= since;
  const familyOf = familyOfRun(runs);
  const kept = new Set(runs.filter(isKept).map(familyOf));
  return runs.filter((run) => !kept.has(familyOf(run)));
}

/** Maps each run to the oldest run that it derives from. */
function familyOfRun(runs: readonly RunRecord[]): (run: RunRecord) => string {
  const first = new Map<string, string>();
  for (const { id, retryOf, undoOf } of runs) {
    const from = retryOf ?? undoOf;
    first.set(id, (from && first.get(from)) ?? id);
  }
  return ({ id }) => first.get(id) ?? id;
}

/** Marks a folder that is being removed; no run has such a name. */
const removalSuffix = '.removed';

/**
 * Removes runs. A kill leaves each run whole or invisible.
 *
 * @returns the bytes that were freed
 */
export async function removeRuns(store: RunStore, runs: readonly RunRecord[]): Promise<number> {
  let bytes = 0;
  for (const folder of runs.map(({ id }) => store.folder(id))) {
    bytes += await sizeOf(folder);
    await onDisk(folder, () => rename(folder, folder + removalSuffix));
  }
  const runsDir = join(store.stateDir, 'runs');
  for (const name of ((await ifThere(readdir(runsDir))) ?? []).filter((each) =>
    each.endsWith(removalSuffix),
  )) {
    const path = join(runsDir, name);
    await onDisk(path, () => rm(path, { recursive: true, force: true }));
  }
  return bytes;
}

export async function sizeOf(folder: string): Promise<number> {
  const names = (await ifThere(readdir(folder))) ?? [];
  const found = await Promise.all(names.map((name) => statIfAny(join(folder, name))));
  return found.reduce((sum, file) => sum + (file?.size ?? 0), 0);
}
