import { readDuration } from '../../duration.ts';
import { usageError } from '../../errors.ts';

/** Milliseconds from `min` to `max`, both included. */
export interface DurationRange {
  readonly min: number;
  readonly max: number;
}

/** The longest time that a Node.js timer can wait. */
const longest = 2 ** 31 - 1;

/**
 * Reads a duration such as `50ms`, `1.5s`, `2m` or `24h`, in milliseconds to the thousandth.
 *
 * @throws CqbatchError `INVALID_OPTION`
 */
export function parseDuration(option: string, text: string): number {
  const duration = readDuration(text);
  if (duration === undefined || duration > longest) {
    throw usageError(
      'INVALID_OPTION',
      `${option}: ${JSON.stringify(text)} is no duration; write it as 50ms, 1.5s, 2m or 24h`,
    );
  }
  return duration;
}

/**
 * Reads a duration or a range of durations such as `20ms..80ms`.
 *
 * @throws CqbatchError `INVALID_OPTION`
 */
export function parseDurationRange(option: string, text: string): DurationRange {
  const [first = '', second = first, ...more] = text.split('..');
  const range = { min: parseDuration(option, first), max: parseDuration(option, second) };
  if (more.length > 0 || range.min > range.max) {
    throw usageError(
      'INVALID_OPTION',
      `${option}: ${JSON.stringify(text)} is no range; write the shorter duration first, such as 20ms..80ms`,
    );
  }
  return range;
}
