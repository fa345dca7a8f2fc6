import { stringifyJson } from '../../../base/text/json.ts';
import { excerptOf } from '../../api/answer.ts';
import { type ApiFailure, mayBeOfRouter } from '../../api/failure.ts';
import type { JudgedAttempt, Judgement } from '../judge.ts';
import type { HealthEvidence, Trouble } from './health-evidence.ts';

export function healthEvidence(attempt: JudgedAttempt, judgement: Judgement): HealthEvidence {
  const { task, answer, claim, isOperationProven } = attempt;
  const trouble = (cause: Trouble['cause'], failure: ApiFailure): Trouble => ({
    kind: 'trouble',
    cause,
    row: task.row,
    path: task.path,
    failure,
    isRepeated: claim.attemptsUsed > 0,
  });
  if (judgement.kind === 'premature') return trouble('done', judgement.failure);
  if (judgement.kind === 'finished' && judgement.result.outcome === 'succeeded')
    return { kind: 'answered', ...(judgement.result.code === 'OK' && { isSuccess: true }) };
  if (answer.ok) {
    if (judgement.kind !== 'finished') return { kind: 'answered' };
    const { code, message, unclear } = judgement.result;
    // Before a success of the operation, an answer without an identifier may come from another service.
    if (isOperationProven || !unreadCodes.has(code)) return { kind: 'answered' };
    const body = answer.body === null ? 'nothing' : excerptOf(stringifyJson(answer.body));
    return trouble('unread', {
      class: 'permanent',
      code: 'ANSWER_INCOMPLETE',
      message: `${message}: ${body}`,
      status: answer.status,
      unclear,
    });
  }
  const { failure } = answer;
  switch (failure.class) {
    case 'unreachable':
      return trouble('target', failure);
    case 'retry':
      return trouble(isUnread(failure) && !isOperationProven ? 'unread' : 'either', failure);
    case 'permanent':
      return isPathInDoubt(attempt, failure) ? trouble('path', failure) : { kind: 'answered' };
    case 'slow-down':
      return { kind: 'refused', path: task.path, failure };
    case 'halt-early':
      return { kind: judgement.kind === 'halted' ? 'none' : 'answered' };
    case 'halt':
    case 'aborted':
      return { kind: 'none' };
  }
}

/** Codes of 2xx answers that could not be read: the service may have made the change, or another service has answered. */
const unreadCodes: ReadonlySet<string> = new Set(['ANSWER_INCOMPLETE', 'OPERATION_FAILED']);

/** Whether the failure is a 2xx answer that can't be read. */
function isUnread({ status = 0, unclear }: ApiFailure): boolean {
  return unclear && status >= 200 && status < 300;
}

/** Whether the refusal may be about the path, because it does not mention the subject. */
function isPathInDoubt({ task, operation }: JudgedAttempt, { status, message }: ApiFailure): boolean {
  if (!mayBeOfRouter(status)) return false;
  const words = message.replaceAll(task.path, '').toLowerCase();
  return !words
    .match(/[a-z0-9]+/g)
    ?.some((word) => word === task.subject || word.replace(/s$/, '') === operation.thing);
}
