import type { Attempt, RowHistory } from './domain.ts';

/** Of an unfinished row's attempts, so many of the first and of the last ones are kept. */
const keptAtEachEnd = 12;

/** Longest message that is kept of an attempt; the one that finished a row is kept whole. */
const maxMessageLength = 200;

/** An attempt of which nothing is known: the process that made it, if it did, has died. */
export const unknownAttempt: Attempt = {};

/** The attempts of a row with one more; those in the middle are forgotten when there are too many. */
export function withAttempt(
  earlier: readonly Attempt[] = [],
  { message, ...attempt }: Attempt,
): readonly Attempt[] {
  const latest = {
    ...attempt,
    ...(message !== undefined && message !== '' && { message: message.slice(0, maxMessageLength) }),
  };
  const all = [...earlier, latest];
  if (all.length <= 2 * keptAtEachEnd) return all;
  const [first, second, ...last] = all.slice(keptAtEachEnd);
  const omitted = 1 + (first?.omitted ?? 0) + (second?.omitted ?? 0);
  return [...all.slice(0, keptAtEachEnd), { ...second, omitted }, ...last];
}

/** What is known of a row that was about to be called by a process that has died: perhaps it was called. */
export function perhapsCalled(history: RowHistory): RowHistory {
  const { attempts, earlier, ...known } = history;
  return { ...known, attempts: attempts + 1, unclear: true, earlier: withAttempt(earlier, unknownAttempt) };
}
