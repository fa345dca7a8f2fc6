import { randomInt } from 'node:crypto';

const letters = 'abcdefghjkmnpqrstuvwxyz23456789';

/** A new run id: UTC time to the second, then four characters to tell apart runs of the same second. It sorts by time. */
export function newRunId(now: Date = new Date()): string {
  const time = now
    .toISOString()
    .replaceAll(/[-:]|\..*/g, '')
    .replace('T', '-');
  const suffix = Array.from({ length: 4 }, () => letters[randomInt(letters.length)]).join('');
  return `${time}-${suffix}`;
}

/** Whether a text has the form of a run id, and so can be used as the name of a folder. */
export function isRunId(text: string): boolean {
  return /^\d{8}-\d{6}-[a-z2-9]{4}$/.test(text);
}
