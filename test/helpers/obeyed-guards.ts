import type { JournalEntry } from '../../src/engine/journal/line.ts';

export interface GuardLimits {
  readonly maxFailures?: number;
  readonly maxConsecutiveFailures?: number;
}

/**
 * A run with too many failures feeds nothing more until a user resumes it, except for one write under way.
 *
 * @returns how many rows had failed when it fed more nevertheless; undefined when it never did
 */
export function fedInSpiteOf(
  entries: Iterable<JournalEntry>,
  { maxFailures = Number.POSITIVE_INFINITY, maxConsecutiveFailures = Number.POSITIVE_INFINITY }: GuardLimits,
): string | undefined {
  let [failed, inARow, exceeded, writes] = [0, 0, false, 0];
  let last = '';
  for (const entry of entries) {
    if (entry.type === 'accepted') [failed, inARow, exceeded, writes] = [0, 0, false, 0];
    // The entries of one write are adjacent.
    if (entry.type === 'fed' && exceeded && last !== 'fed') writes += 1;
    if (writes > 1) return `${failed} failures, ${inARow} in a row`;
    last = entry.type;
    if (entry.type !== 'row') continue;
    const hasFailed = entry.result.outcome === 'failed';
    failed += hasFailed ? 1 : 0;
    inARow = hasFailed ? inARow + 1 : 0;
    exceeded ||= failed > maxFailures || inARow > maxConsecutiveFailures;
  }
  return undefined;
}
