import { randomInt } from 'node:crypto';

const idLetters = 'abcdefghjkmnpqrstuvwxyz23456789';

/** Makes the id of a new run. Ids sort by time. */
export function newRunId(now: Date = new Date()): string {
  const suffix = Array.from({ length: 4 }, () => idLetters[randomInt(idLetters.length)]).join('');
  return `${timeInId(now.toISOString())}-${suffix}`;
}

/** A time in the form of run ids: `20260131-020000`. @param time ISO 8601 UTC */
export function timeInId(time: string): string {
  return time.replaceAll(/[-:]|\..*/g, '').replace('T', '-');
}

/** The id of a run by the content of its file: `week-47-3f2a1b9c` for `Week 47.csv`. */
export function contentRunId(file: string, sha256: string): string {
  const words = file
    .replace(/\.[^.]*$/, '')
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^-+|-+$/g, '');
  return [words.slice(0, 50), sha256.slice(0, 8)].filter(Boolean).join('-');
}

/** The id equal to the text, or all ids that contain it. */
export function idsMeantBy(text: string, ids: readonly string[]): readonly string[] {
  if (text === '') return [];
  return ids.includes(text) ? [text] : ids.filter((id) => id.includes(text));
}
