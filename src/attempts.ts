import type { Attempt, RowHistory } from './domain.ts';

/** How many of the first and of the last attempts of an unfinished row are kept. */
const keptAtEachEnd = 12;

/** Longest message of an attempt that is kept; the message of the last attempt is kept whole. */
const maxMessageLength = 200;

/** An attempt of which nothing is known: the process that may have made it has died. */
export const unknownAttempt: Attempt = {};

/** The attempts of a row with one more; when there are too many, those in the middle are dropped. */
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

/** The history of a row that a process was about to call when it died: perhaps it was called. */
export function perhapsCalled(history: RowHistory): RowHistory {
  const { attempts, earlier, ...known } = history;
  return { ...known, attempts: attempts + 1, unclear: true, earlier: withAttempt(earlier, unknownAttempt) };
}
