import type { Random } from '../random.ts';

const start = Date.UTC(2024, 0, 1);
const halfYear = 182 * 24 * 3600;

/**
 * A generated time, RFC 3339 in UTC with whole seconds (the document leaves the format open, section 2.7): in the
 * first half of 2024, or `later`, in the second.
 */
export function generatedTime(random: Random, half: 'earlier' | 'later' = 'earlier'): string {
  const seconds = random.integer(0, halfYear - 1) + (half === 'later' ? halfYear : 0);
  return formatTime(start + seconds * 1000);
}

/** A time in milliseconds since 1970 as RFC 3339 in UTC, without fractions of a second. */
export function formatTime(milliseconds: number): string {
  return `${new Date(milliseconds).toISOString().slice(0, 19)}Z`;
}
