import { canonicalCodes, failureFacts } from '../../domain/codes.ts';
import type { ApiAnswer } from '../api/client.ts';
import { type ApiFailure, apiFailure } from '../api/failure.ts';
import type { AnswerCheck, Operation } from '../operation/operation.ts';
import type { RowCall } from '../queue/payload.ts';

export interface ReadAnswer {
  readonly answer: ApiAnswer;
  /** What the operation reads in a 2xx answer. Absent if it throws. */
  readonly check?: AnswerCheck;
}

/**
 * A 2xx answer in which the operation reads a refusal, as GraphQL writes them, becomes that failure: for the row, the rate and the circuit
 * breaker, as if the API had answered with its status.
 */
export function readAnswer(
  { subject }: Pick<RowCall, 'subject'>,
  operation: Pick<Operation, 'check'>,
  answer: ApiAnswer,
): ReadAnswer {
  if (!answer.ok) return { answer };
  try {
    const check = operation.check(subject, answer.body);
    const failure = check.ok ? undefined : statedFailure(check, answer.status);
    if (failure === undefined) return { answer, check };
    const { ok: _, status: __, body: ___, ...figures } = answer;
    return { answer: { ...figures, ok: false, failure } };
  } catch {
    // The operation's exception is ignored here: the judge calls the operation again, and meets the exception.
    return { answer };
  }
}

/** The failure that a 2xx answer states. Undefined for a code of the operation's own, or of an answer that can't be read. */
function statedFailure(
  { code, message, unclear }: Extract<AnswerCheck, { ok: false }>,
  status: number,
): ApiFailure | undefined {
  const known = canonicalCodes.find((canonical) => canonical === code);
  if (known === undefined) return undefined;
  const failureClass = known === 'RESOURCE_EXHAUSTED' ? 'slow-down' : failureFacts(known).class;
  return apiFailure(known, message, {
    class: failureClass,
    status,
    ...(unclear !== undefined && { unclear }),
  });
}
