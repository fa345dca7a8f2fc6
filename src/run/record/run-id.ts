import { randomInt } from 'node:crypto';

const letters = 'abcdefghjkmnpqrstuvwxyz23456789';

/** A new run id: UTC time to the second, then four characters that distinguish runs of the same second. It sorts by time. */
export function newRunId(now: Date = new Date()): string {
  const suffix = Array.from({ length: 4 }, () => letters[randomInt(letters.length)]).join('');
  return `${timeInId(now.toISOString())}-${suffix}`;
}

/** A time as run ids have it, `20260131-020000`. @param time ISO 8601 UTC */
export function timeInId(time: string): string {
  return time.replaceAll(/[-:]|\..*/g, '').replace('T', '-');
}

/** The id of a run that there is once for a content, named after its file: `Week 47.csv` is `week-47-3f2a1b9c`. */
export function contentRunId(file: string, sha256: string): string {
  const words = file
    .replace(/\.[^.]*$/, '')
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^-+|-+$/g, '');
  return [words.slice(0, 50), sha256.slice(0, 8)].filter(Boolean).join('-');
}

/**
 * Whether a text has the form of a run id, ours or one that the user chose. It can be used as the name of a folder
 * on every system, and in the names of queues and jobs.
 */
export function isRunId(text: string): boolean {
  return /^[a-z0-9][a-z0-9_-]{0,62}$/.test(text) && !isDeviceName(text);
}

/** Whether Windows has a device of that name, so that no file can have it ("Naming Files, Paths, and Namespaces"). */
export function isDeviceName(text: string): boolean {
  return /^(con|prn|aux|nul|com\d|lpt\d)$/.test(text);
}

/** The ids that a text may stand for: the one that it is, else those of which it is a part. */
export function idsMeantBy(text: string, ids: readonly string[]): readonly string[] {
  if (text === '') return [];
  return ids.includes(text) ? [text] : ids.filter((id) => id.includes(text));
}
