/** Interface document, section 4.1. */

import { type Int64Input, int64Json, requireInt64 } from '../int64.ts';
import { type Evaluation, type EvaluationSummary, evaluation, evaluationSummary } from '../model/entities.ts';
import { object, type Reading, readIdentifier } from '../model/reading.ts';
import type { ApiRequest } from '../request.ts';
import { serverText } from '../server-text.ts';

export interface RestoreEvaluationInput {
  /** From 1 to 9223372036854775807. */
  readonly evaluationId: Int64Input;
  readonly userId: string;
}

const path = '/api/v1alpha1/scorecards/scorecards/restoreevaluation';

const answer = object({ evaluation });
const summaryAnswer = object({ evaluation: evaluationSummary });

/** @throws RangeError when the identifier is not an exact integer in its range */
export function restoreEvaluationRequest(input: RestoreEvaluationInput): ApiRequest {
  const id = int64Json(requireInt64('evaluationId', input.evaluationId, 1));
  return { path, body: `{"evaluation_id":${id},"user_id":${JSON.stringify(input.userId)}}` };
}

/** The answer must contain the requested evaluation, no longer deleted. */
export function readRestoreEvaluationAnswer(evaluationId: string, body: unknown): Reading<Evaluation> {
  return checkEvaluation(evaluationId, answer(body)?.evaluation ?? {});
}

export function readRestoreEvaluationSummary(
  evaluationId: string,
  body: unknown,
): Reading<EvaluationSummary> {
  return checkEvaluation(evaluationId, summaryAnswer(body)?.evaluation ?? {});
}

function checkEvaluation<T extends EvaluationSummary>(evaluationId: string, evaluation: T): Reading<T> {
  const identifier = readIdentifier('evaluation.evaluation_id', evaluationId, evaluation.evaluationId);
  if (!identifier.ok) return identifier;
  const { deletedAt } = evaluation;
  if (deletedAt === undefined) return { ok: true, value: evaluation };
  const message = `The evaluation in the answer is still deleted (deleted_at ${serverText(deletedAt)})`;
  return { ok: false, code: 'ANSWER_STILL_DELETED', message };
}
