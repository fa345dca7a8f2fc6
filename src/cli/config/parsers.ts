/** Parsers of what users write in flags, environment and configuration file. Each throws a RangeError that says how. */

export interface ParsedRate {
  /** As it was written. */
  readonly text: string;
  readonly perSecond: number;
  /** The limit as BullMQ takes it: integers; windows of 100 ms where that is exact enough, so that calls are spread. */
  readonly limit: { readonly calls: number; readonly perMs: number };
}

const unitMs = { s: 1_000, m: 60_000, h: 3_600_000 } as const;
const smoothWindowMs = 100;

/** `50/s`, `600/m`, `1000/h`, also with a fraction (`0.5/s`). */
export function parseRate(text: string): ParsedRate {
  const match = /^(\d+(?:\.\d+)?)\s*\/\s*(s|m|h)(?:ec|in|our)?$/.exec(text.trim());
  const count = Number(match?.[1]);
  const unit = match?.[2] as keyof typeof unitMs | undefined;
  if (unit === undefined || !(count > 0))
    throw new RangeError('write a rate as 50/s, 600/m or 1000/h, or none');
  const perSecond = (count * 1_000) / unitMs[unit];
  if (perSecond > 1_000_000) throw new RangeError('a rate is at most 1000000/s');
  return { text: text.trim(), perSecond, limit: limitFor(perSecond) };
}

/** A rate, or `none` for no limit: null. */
export function parseRateOrNone(text: string): ParsedRate | null {
  return text.trim() === 'none' ? null : parseRate(text);
}

/** The integers that come closest from below: the rate is never exceeded. */
function limitFor(perSecond: number): ParsedRate['limit'] {
  const callsInWindow = (perSecond * smoothWindowMs) / 1_000;
  if (callsInWindow < 1) return { calls: 1, perMs: Math.ceil(1_000 / perSecond) };
  const calls = Math.floor(callsInWindow + 1e-9);
  return { calls, perMs: Math.ceil((calls * 1_000) / perSecond - 1e-9) };
}

const durationMs = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000 } as const;

/** `500ms`, `30s`, `2m`, `1h`; a bare number is seconds. Result in milliseconds, from 1 ms to 24 h. */
export function parseDuration(text: string): number {
  const match = /^(\d+(?:\.\d+)?)\s*(ms|s|m|h)?$/.exec(text.trim());
  if (match === null) throw new RangeError('write a duration as 500ms, 30s or 2m');
  const milliseconds = Math.round(
    Number(match[1]) * durationMs[(match[2] ?? 's') as keyof typeof durationMs],
  );
  if (milliseconds < 1 || milliseconds > 24 * durationMs.h)
    throw new RangeError('a duration is from 1ms to 24h');
  return milliseconds;
}

/** A whole number within bounds. */
export function parseInteger(minimum: number, maximum: number): (text: string) => number {
  return (text) => {
    const value = Number(text);
    if (!/^\d+$/.test(text.trim()) || value < minimum || value > maximum) {
      throw new RangeError(`write a whole number from ${minimum} to ${maximum}`);
    }
    return value;
  };
}

/** What all keys of an installation begin with: a word that can stand in a key and in a command line. */
export function parseQueuePrefix(text: string): string {
  if (!/^[\w.-]{1,64}$/.test(text))
    throw new RangeError('write a prefix with letters, digits, ".", "_" and "-"');
  return text;
}

/** Any text that is not empty. */
export function parseText(text: string): string {
  if (text.trim() === '') throw new RangeError('it must not be empty');
  return text;
}
