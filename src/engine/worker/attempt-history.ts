import { noHistory, withAttempt } from '../../domain/attempts.ts';
import type { AttemptHistory } from '../../domain/row-result.ts';
import type { ApiAnswer } from '../api/client.ts';
import type { ApiFailure } from '../api/failure.ts';
import type { RowCall } from '../queue/payload.ts';

export interface AnsweredAttempt {
  readonly task: RowCall;
  readonly answer: ApiAnswer;
  readonly startedAt: Date;
}

/** What is known of a row that an attempt has not finished. */
export function historyAfter(attempt: AnsweredAttempt, failure: ApiFailure): AttemptHistory {
  const { task, answer, startedAt } = attempt;
  const past = task.history ?? noHistory;
  return {
    attempts: past.attempts + answer.requests,
    unprocessed: past.unprocessed,
    unclear: past.unclear || failure.unclear,
    // Another answer than a refusal ends the series of refusals.
    ...(past.singledOut !== undefined && failure.status === undefined && { singledOut: past.singledOut }),
    startedAt: past.startedAt ?? startedAt.toISOString(),
    lastCode: failure.code,
    lastMessage: failure.message,
    ...(failure.status !== undefined && { lastStatus: failure.status }),
    ...earlierAttempts(attempt, failure),
  };
}

/** The earlier attempts of a row and this attempt, unless nothing was sent. */
function earlierAttempts(
  { task, answer, startedAt }: AnsweredAttempt,
  { code, message, status }: ApiFailure,
): Pick<AttemptHistory, 'earlier'> {
  const { earlier } = task.history ?? noHistory;
  if (answer.requests === 0) return earlier === undefined ? {} : { earlier };
  return {
    earlier: withAttempt(earlier, {
      at: startedAt.toISOString(),
      durationMs: Math.round(answer.durationMs),
      code,
      message,
      ...(status !== undefined && { httpStatus: status }),
      ...(answer.requestId !== undefined && { requestId: answer.requestId }),
      ...(answer.requests !== 1 && { requests: answer.requests }),
    }),
  };
}

/** What is known of a row after an attempt that costs it nothing, if the attempt certainly was not processed. */
export function unchargedHistory(attempt: AnsweredAttempt, failure: ApiFailure): AttemptHistory {
  const history = historyAfter(attempt, failure);
  return failure.unclear
    ? history
    : { ...history, unprocessed: history.unprocessed + attempt.answer.requests };
}
