import { shortenedAtWord } from '../base/text/printable.ts';
import type { Attempt, AttemptHistory, RowResult } from './row-result.ts';

export const noHistory: AttemptHistory = { attempts: 0, unprocessed: 0, unclear: false };

export function requestsOf(attempts: readonly Attempt[]): number {
  return attempts.reduce((sum, { requests = 1, omitted = 0 }) => sum + requests + omitted, 0);
}

/** An unfinished row keeps this many of its first attempts, and as many of its last. */
const keptAtEachEnd = 12;

/** The longest message of an earlier attempt, in characters. The last attempt keeps its whole message. */
const maxMessageLength = 200;

/** An attempt that a process may have made before it died. */
export const unknownAttempt: Attempt = {};

/** Drops attempts in the middle when there are too many. */
export function withAttempt(
  earlier: readonly Attempt[] = [],
  { message, ...attempt }: Attempt,
): readonly Attempt[] {
  const latest = {
    ...attempt,
    ...(message !== undefined && message !== '' && { message: shortenedAtWord(message, maxMessageLength) }),
  };
  const all = [...earlier, latest];
  if (all.length <= 2 * keptAtEachEnd) return all;
  const [first, second, ...last] = all.slice(keptAtEachEnd);
  const omitted = 1 + (first?.omitted ?? 0) + (second?.omitted ?? 0);
  return [...all.slice(0, keptAtEachEnd), { ...second, omitted }, ...last];
}

/** The history of a row whose process died before or during a call. */
export function perhapsCalled(history: AttemptHistory): AttemptHistory {
  const { attempts, earlier, ...rest } = history;
  return { ...rest, attempts: attempts + 1, unclear: true, earlier: withAttempt(earlier, unknownAttempt) };
}

export function failedUncalled(
  { attempts, unprocessed, startedAt, lastStatus, earlier }: AttemptHistory,
  why: Pick<RowResult, 'row' | 'operation' | 'code' | 'message' | 'unclear'>,
): RowResult {
  return {
    outcome: 'failed',
    ...why,
    attempts,
    ...(unprocessed > 0 && { unprocessed }),
    ...(lastStatus !== undefined && { httpStatus: lastStatus }),
    ...(startedAt !== undefined && { startedAt }),
    finishedAt: new Date().toISOString(),
    ...(earlier !== undefined && { earlier }),
  };
}

export function attemptsBefore({ earlier, unclear, attempts }: AttemptHistory): readonly Attempt[] {
  return earlier ?? (unclear && attempts > 0 ? [unknownAttempt] : []);
}

/** The result itself describes the last attempt, unless the row failed without it. */
export function attemptsOf(result: RowResult): readonly Attempt[] {
  const {
    earlier = [],
    attempts,
    startedAt,
    finishedAt,
    durationMs,
    code,
    message,
    httpStatus,
    requestId,
  } = result;
  const known = earlier.reduce((sum, { omitted = 0 }) => sum + 1 + omitted, 0);
  if (attempts <= known || finishedAt === undefined) return earlier;
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
      ...(requestId !== undefined && { requestId }),
    },
  ];
}

export function joinAttempts(ofRun: readonly Attempt[], ofRetry: readonly Attempt[]): readonly Attempt[] {
  return ofRetry.reduce(withAttempt, ofRun);
}
