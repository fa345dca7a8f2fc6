import type { JournalEntry } from '../../src/engine/journal/line.ts';

/** As in the options of a run. */
export type FailureLimit = number | { readonly percent: number } | 'none';

interface Counted {
  readonly finished: number;
  readonly failed: number;
}

/**
 * A run with too many failures feeds nothing more until a user resumes it, except for one write under way.
 *
 * @returns how many rows had failed when it fed more nevertheless; undefined when it never did
 */
export function fedInSpiteOf(entries: Iterable<JournalEntry>, limit: FailureLimit): string | undefined {
  let [finished, failed, exceeded, writes] = [0, 0, false, 0];
  let last = '';
  for (const entry of entries) {
    if (entry.type === 'accepted') [finished, failed, exceeded, writes] = [0, 0, false, 0];
    // The entries of one write are adjacent.
    if (entry.type === 'fed' && exceeded && last !== 'fed') writes += 1;
    if (writes > 1) return `${failed} failures of ${finished} rows`;
    last = entry.type;
    if (!isOfCalledRow(entry)) continue;
    finished += 1;
    failed += entry.result.outcome === 'failed' ? 1 : 0;
    // A coordinator that dies before it can halt the run leaves later successes to the next one, which may continue.
    exceeded = isTooMuch({ finished, failed }, limit, 1.01);
    if (!exceeded) writes = 0;
  }
  return undefined;
}

/** Whether enough rows had failed at some moment since the start, or since a user accepted the failures. */
export function mayHalt(entries: Iterable<JournalEntry>, limit: FailureLimit): boolean {
  let [finished, failed, exceeded] = [0, 0, false];
  for (const entry of entries) {
    if (entry.type === 'accepted') [finished, failed, exceeded] = [0, 0, false];
    if (!isOfCalledRow(entry)) continue;
    finished += 1;
    failed += entry.result.outcome === 'failed' ? 1 : 0;
    exceeded ||= isTooMuch({ finished, failed }, limit, 0.99);
  }
  return exceeded;
}

function isOfCalledRow(entry: JournalEntry): entry is Extract<JournalEntry, { readonly type: 'row' }> {
  return entry.type === 'row' && ['succeeded', 'failed'].includes(entry.result.outcome);
}

/** @param slack on the number that halts, because the sum below is not exact */
function isTooMuch({ finished, failed }: Counted, limit: FailureLimit, slack: number): boolean {
  if (limit === 'none') return false;
  if (typeof limit === 'number') return failed > limit;
  if (failed < 8 || limit.percent === 100) return false;
  return likelihoodRatio({ finished, failed }, limit.percent / 100) >= 10_000 * slack;
}

const probabilities = 500;

/** How much better the probabilities of failure above the allowed one explain the results than the allowed one does, on average. */
function likelihoodRatio({ finished, failed }: Counted, allowed: number): number {
  let sum = 0;
  for (let index = 0; index < probabilities; index += 1) {
    const probability = allowed + ((index + 0.5) / probabilities) * (1 - allowed);
    sum += (probability / allowed) ** failed * ((1 - probability) / (1 - allowed)) ** (finished - failed);
  }
  return sum / probabilities;
}
