import { noHistory } from '../../domain/attempts.ts';
import type { AttemptHistory, ResultColumns, RowResult } from '../../domain/row-result.ts';
import type { ApiAnswer } from '../api/client.ts';
import { type ApiFailure, mayBeOfRouter } from '../api/failure.ts';
import { backoffAfter, statedWaitMs, unstatedWaitMs } from '../api/waiting-time.ts';
import { type AnswerCheck, type Operation, operationFailure, refusalText } from '../operation/operation.ts';
import type { Claim, RowVerdict } from '../queue/claimed-batch.ts';
import type { RowCall } from '../queue/payload.ts';
import { isUnavailable } from '../rate/traffic-meter.ts';
import { type AnsweredAttempt, historyAfter, unchargedHistory } from './attempt-history.ts';
import { hasKey, keyedFailure } from './call-request.ts';
import {
  areFailuresOfRow,
  areRefusalsOfRow,
  countFailure,
  countRefusal,
  isSuspect,
  type OtherCalls,
  waitAloneMs,
} from './other-rows.ts';

/** An attempt, and all that its judgement depends on. */
export interface JudgedAttempt extends AnsweredAttempt {
  readonly task: RowCall;
  readonly operation: Operation;
  readonly claim: Claim;
  /** What the operation has read in a 2xx answer. */
  readonly check?: AnswerCheck | undefined;
  readonly finishedAt: Date;
  /** Whether a row of this operation has succeeded, so that token and base URL are right. */
  readonly isOperationProven: boolean;
  /** Whether a row of the operation has succeeded at this address, in any run: then a refusal comes from the service, not from a router. */
  readonly isAddressProven: boolean;
  readonly otherCalls: OtherCalls;
  /** Whether a governor decides how long to wait when the API asks to slow down without a time. */
  readonly isGoverned: boolean;
  /** A number from 0 to 1, new for each attempt. */
  readonly random: number;
}

/**
 * What becomes of a row after an attempt.
 *
 * - `halted`: every other row would fail in the same way.
 * - `premature`: the refusal means "done" once a row of the operation has succeeded at this address.
 */
export type Judgement =
  | RowVerdict
  | {
      readonly kind: 'halted' | 'premature';
      readonly history: AttemptHistory;
      readonly failure: ApiFailure;
    };

/** After this many refusals of a row, its 503s are its own failures. */
const mostRefusals = 5;

/**
 * A 503 as "slow down", if 503s depend on the rate: like a 429, it was most likely not processed. This is not certain enough for a row that
 * must not be repeated.
 */
export function asRefusal(
  answer: ApiAnswer,
  { history = noHistory }: RowCall,
  { repeatable }: Pick<Operation, 'repeatable'>,
): ApiAnswer {
  if (answer.ok || !repeatable || history.unprocessed >= mostRefusals || !isUnavailable(answer.failure))
    return answer;
  return { ...answer, failure: { ...answer.failure, class: 'slow-down', unclear: false } };
}

/**
 * What an answer means for its row:
 *
 * - a 2xx that fits the request: succeeded; another 2xx: failed, and unclear unless the operation says otherwise;
 * - a refusal that means "done", or "done already" after an attempt whose answer never came: succeeded, `ALREADY_APPLIED`; premature before
 *   a success at this address, where a router may have answered;
 * - an operation that throws: failed, `OPERATION_FAILED`, and unclear;
 * - a permanent refusal, or the last attempt: failed;
 * - a transient failure that may be repeated: repeated, after an exponential pause with full jitter, or the pause that the API asks for;
 * - "slow down" again and again, or the same failure of the service, while other rows are accepted: failed;
 * - "slow down", or no connection: repeated, at no cost; a wrong token, base URL or permission: halted; an abort: returned.
 */
export function judge(attempt: JudgedAttempt): Judgement {
  const { task, operation, claim, answer } = attempt;
  const { policy } = claim;
  const past = task.history ?? noHistory;
  const attempts = past.attempts + answer.requests;
  const { status } = answer.ok ? answer : answer.failure;

  const finished = (
    outcome: Pick<RowResult, 'outcome' | 'message' | 'unclear' | 'unprocessed' | 'columns'> & {
      readonly code: string;
    },
  ) => ({
    kind: 'finished' as const,
    result: {
      row: task.row,
      operation: task.operation,
      ...(past.unprocessed > 0 && { unprocessed: past.unprocessed }),
      ...outcome,
      ...(status !== undefined && { httpStatus: status }),
      ...(answer.requestId !== undefined && { requestId: answer.requestId }),
      attempts,
      startedAt: past.startedAt ?? attempt.startedAt.toISOString(),
      finishedAt: attempt.finishedAt.toISOString(),
      durationMs: Math.round(answer.durationMs),
      ...(past.earlier !== undefined && { earlier: past.earlier }),
    },
  });

  // An answer of the operation to a call with a key tells the outcome of all calls with that key. A refusal that may pass does not.
  const unclear = past.unclear && !hasKey(operation, policy);
  const meaning = meaningOf(attempt);
  switch (meaning.kind) {
    case 'fits':
      return finished({ outcome: 'succeeded', code: 'OK', message: '', unclear, columns: meaning.columns });
    case 'unknown':
      return finished({
        outcome: 'failed',
        code: meaning.code,
        message: meaning.message,
        unclear: meaning.unclear ?? true,
      });
    case 'done':
      return finished({ outcome: 'succeeded', code: 'ALREADY_APPLIED', message: meaning.message, unclear });
  }

  const failure = { ...meaning.failure, message: refusalText(operation, meaning.failure) };
  if (meaning.kind === 'premature')
    return { kind: 'premature', history: unchargedHistory(attempt, failure), failure };
  const history = historyAfter(attempt, failure);
  const halted = () => ({ kind: 'halted' as const, history: unchargedHistory(attempt, failure), failure });
  const failed = (why = '') =>
    finished({
      outcome: 'failed',
      code: failure.code,
      message: failure.message + why,
      unclear: failure.unclear || (failure.class === 'permanent' ? unclear : past.unclear),
    });

  const isPathWrong = failure.class === 'halt-early' && mayBeOfRouter(failure.status);
  const asked = isPathWrong || failure.code === 'UNIMPLEMENTED' ? ` (asked: ${task.path})` : '';

  switch (failure.class) {
    case 'permanent':
      return failed(asked);
    case 'halt-early':
      return attempt.isOperationProven ? failed(asked) : halted();
    case 'halt':
      return halted();
    case 'aborted':
      return { kind: 'returned', history };
    case 'slow-down': {
      const unprocessed = past.unprocessed + 1;
      const singledOut = countRefusal(past.singledOut, attempt.otherCalls);
      if (areRefusalsOfRow(singledOut, attempt.otherCalls)) {
        const { refusals, others } = singledOut;
        const message = `${failure.message} (refused ${refusals} times, while at least ${others} other rows were accepted)`;
        return finished({
          outcome: 'failed',
          code: failure.code,
          message,
          unclear: past.unclear,
          unprocessed,
        });
      }
      const refused = { ...history, unprocessed, singledOut };
      const statedMs = failure.waitMs === undefined ? undefined : statedWaitMs(failure.waitMs);
      if (isSuspect(past.singledOut))
        return {
          kind: 'returned',
          history: refused,
          delayMs: statedMs ?? waitAloneMs(singledOut, attempt.otherCalls),
        };
      const unknownMs = attempt.isGoverned ? 0 : unstatedWaitMs(unprocessed);
      return { kind: 'throttled', history: refused, waitMs: statedMs ?? unknownMs };
    }
    case 'unreachable':
      return { kind: 'returned', history, delayMs: backoff(claim.attemptsUsed + 1) };
    case 'retry': {
      const used = claim.attemptsUsed + 1;
      const mayBeRepeated = operation.repeatable || !failure.unclear;
      const failedAlone = codesOfRowDefects.has(failure.code)
        ? countFailure(past, failure, attempt.otherCalls)
        : undefined;
      if (failedAlone !== undefined && areFailuresOfRow(failedAlone)) {
        const { refusals: times, others } = failedAlone;
        return failed(
          ` (will not pass: the same answer came ${times} times in a row, while at least ${others} calls of other rows were accepted)`,
        );
      }
      if (used >= policy.attempts || !mayBeRepeated) return failed();
      return {
        kind: 'retry',
        history: failedAlone === undefined ? history : { ...history, failedAlone },
        delayMs: Math.max(backoff(used), Math.ceil(failure.waitMs ?? 0)),
      };
    }
  }

  function backoff(used: number): number {
    return backoffAfter(used, policy.backoffMs, attempt.random);
  }
}

/** Codes of failures that a row may cause each time, by a defect of the service. */
const codesOfRowDefects: ReadonlySet<string> = new Set(['UNKNOWN', 'INTERNAL']);

/** What an answer says of the row. `unknown`: this change or another may have been made. */
type AnswerMeaning =
  | { readonly kind: 'fits'; readonly columns: ResultColumns }
  | {
      readonly kind: 'unknown';
      readonly code: string;
      readonly message: string;
      readonly unclear?: boolean;
    }
  | { readonly kind: 'done'; readonly message: string }
  | { readonly kind: 'failure' | 'premature'; readonly failure: ApiFailure };

function meaningOf(attempt: JudgedAttempt): AnswerMeaning {
  const { task, operation, claim, answer, check: known, isAddressProven } = attempt;
  try {
    if (answer.ok) {
      const check = known ?? operation.check(task.subject, answer.body);
      // A 2xx that does not fit the request: the API made a change, perhaps another one.
      return check.ok ? { kind: 'fits', columns: check.columns } : { ...check, kind: 'unknown' };
    }
    const failure = keyedFailure(answer.failure, operation, claim.policy);
    const isRefusal = failure.class === 'permanent' || (failure.class === 'halt-early' && isAddressProven);
    const isLost = task.history?.unclear === true;
    const isDone = isRefusal && operation.meansDone(failure);
    const isApplied = isRefusal && isLost && (isDone || operation.meansAlreadyApplied(failure));
    if (!isDone && !isApplied) return { kind: 'failure', failure };
    if (!isAddressProven) return { kind: 'premature', failure: prematureFailure(operation, failure) };
    return { kind: 'done', message: doneMessage(operation, failure, isApplied) };
  } catch (error) {
    return {
      kind: 'unknown',
      code: 'OPERATION_FAILED',
      message: operationFailure(operation.name, error),
    };
  }
}

function doneMessage({ done = 'done' }: Operation, { message }: ApiFailure, isApplied: boolean): string {
  return isApplied
    ? `probably ${done} by an earlier attempt whose answer was lost (the API: "${message}")`
    : `was already ${done} (the API: "${message}")`;
}

function prematureFailure({ name, done = 'done' }: Operation, failure: ApiFailure): ApiFailure {
  const message = `the refusal "${failure.message}" would mean that this is ${done}, but no row of ${name} has ever succeeded at this address`;
  return { ...failure, message };
}

/** Hands the row back at no cost: every other row would have met this failure. */
export function returnUncharged(attempt: JudgedAttempt, failure: ApiFailure): RowVerdict {
  return { kind: 'returned', history: unchargedHistory(attempt, failure) };
}
