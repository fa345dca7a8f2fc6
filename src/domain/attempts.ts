import type { Attempt, AttemptHistory, RowResult } from './terms.ts';

/** How many of the first and of the last attempts of an unfinished row are kept. */
const keptAtEachEnd = 12;

/** Longest message of an attempt that is kept; the message of the last attempt is kept whole. */
const maxMessageLength = 200;

/** An attempt of which nothing is known: the process that may have made it has died. */
export const unknownAttempt: Attempt = {};

export function isUnknown({ at }: Attempt): boolean {
  return at === undefined;
}

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
export function perhapsCalled(history: AttemptHistory): AttemptHistory {
  const { attempts, earlier, ...known } = history;
  return { ...known, attempts: attempts + 1, unclear: true, earlier: withAttempt(earlier, unknownAttempt) };
}

/** The known attempts of a row without a result. */
export function attemptsBefore({ earlier, unclear, attempts }: AttemptHistory): readonly Attempt[] {
  return earlier ?? (unclear && attempts > 0 ? [unknownAttempt] : []);
}

/** The known attempts of a result: the earlier ones, and the last, which only the result describes. */
export function attemptsOf(result: RowResult): readonly Attempt[] {
  const { earlier = [], attempts, startedAt, finishedAt, durationMs, code, message, httpStatus } = result;
  if (attempts === 0 || finishedAt === undefined) return earlier;
  const computed = new Date(Date.parse(finishedAt) - (durationMs ?? 0)).toISOString();
  const start = attempts === 1 ? (startedAt ?? computed) : computed;
  return [
    ...earlier,
    {
      at: start,
      ...(durationMs !== undefined && { durationMs }),
      code,
      ...(message !== '' && { message }),
      ...(httpStatus !== undefined && { httpStatus }),
    },
  ];
}

/** The attempts of a row in a run, then in its retry, as one list. */
export function joinAttempts(before: readonly Attempt[], after: readonly Attempt[]): readonly Attempt[] {
  return after.reduce(withAttempt, before);
}
