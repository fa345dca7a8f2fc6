import { basename } from 'node:path';
import type { HistoryEntry } from './schedule.ts';

/** A file of an inbox that was refused, and that a person should look at. */
export interface RefusedFile {
  readonly name: string;
  /** When the file was refused, ISO 8601 UTC. */
  readonly at: string;
}

/** How long a refused file is shown if no person dismisses it. */
const shownMs = 7 * 24 * 60 * 60 * 1_000;

/**
 * The files that need a person, oldest first: not those refused before `seenUntil`, when a person dismissed them, more than a week ago, or
 * before a run of a file with the same name.
 *
 * @param manifestOf the path of a run's manifest, if known
 */
export function refusedFiles(
  history: readonly HistoryEntry[],
  seenUntil: string | undefined,
  manifestOf: (run: string) => string | undefined,
  now = Date.now(),
): readonly RefusedFile[] {
  const refusedAt = new Map<string, string>();
  for (const entry of history) {
    if (entry.result !== 'began') continue;
    for (const path of entry.runs.map(manifestOf)) if (path !== undefined) refusedAt.delete(basename(path));
    for (const name of entry.refused ?? []) {
      // The latest refusal comes last.
      refusedAt.delete(name);
      refusedAt.set(name, entry.at);
    }
  }
  return [...refusedAt]
    .map(([name, at]) => ({ name, at }))
    .filter(({ at }) => (seenUntil === undefined || at > seenUntil) && Date.parse(at) > now - shownMs);
}
