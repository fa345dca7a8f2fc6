import { usageError } from '../../errors.ts';

/** Milliseconds from `min` to `max`, both included. */
export interface DurationRange {
  readonly min: number;
  readonly max: number;
}

const milliseconds = { ms: 1, s: 1000, m: 60_000, h: 3_600_000 } as const;

/** The longest time that a Node.js timer can wait. */
const longest = 2 ** 31 - 1;

/**
 * Reads a duration such as `50ms`, `1.5s`, `2m` or `24h`, in milliseconds.
 *
 * @throws CqbatchError `INVALID_OPTION`
 */
export function parseDuration(option: string, text: string): number {
  const [, amount, unit] = /^(\d{1,9}(?:\.\d{1,3})?)(ms|s|m|h)$/.exec(text.trim()) ?? [];
  const exact = Number(amount) * milliseconds[(unit ?? 'ms') as keyof typeof milliseconds];
  // 1.1 s are 1100 ms, whatever floating point makes of it.
  const duration = Math.round(exact * 1000) / 1000;
  if (unit === undefined || duration > longest) {
    throw usageError(
      'INVALID_OPTION',
      `${option}: ${JSON.stringify(text)} is no duration; write a number and a unit, such as 50ms, 1.5s or 2m`,
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
