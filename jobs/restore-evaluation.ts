import { serverText } from '../src/engine/api/failure.ts';
import { int64Json } from '../src/engine/api/int64.ts';
import { object, type Reading, readIdentifier } from '../src/engine/api/reading.ts';
import { defineOperation } from '../src/engine/operation/operation.ts';
import { type Evaluation, type EvaluationSummary, evaluation, evaluationSummary } from './evaluation.ts';
import { type InputOf, objectWriter } from './typed-fields.ts';

/**
 * Columns, request and typed client are made from this list. The document does not say which fields are required (section 2.7); its request
 * body has exactly these two.
 */
export const restoreFields = {
  /** Identifiers of evaluations are from 1 to 9223372036854775807. */
  evaluation_id: { type: 'integer', min: 1, required: true },
  /** The user who restores. */
  user_id: { type: 'identifier', required: true, option: '<id>' },
} as const;

export interface RestoreEvaluationInput extends InputOf<typeof restoreFields> {}

const calls = '/api/v1alpha1/scorecards/scorecards';
const inputJson = objectWriter(restoreFields);

const answer = object({ evaluation });
const summaryAnswer = object({ evaluation: evaluationSummary });

/** The answer must contain the requested evaluation, no longer deleted. */
export function readRestoreEvaluationAnswer(evaluationId: string, body: unknown): Reading<Evaluation> {
  return checkEvaluation(evaluationId, answer(body)?.evaluation ?? {});
}

function readSummary(body: unknown, evaluationId: string): Reading<EvaluationSummary> {
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

/** The number of evaluations in a page, which must be given. Hundreds without sections are far below the 4 MB of a usual message. */
const pageSize = 500;

/** Asks for a page of a list, as a public description of a service with this call says: the interface document has no lists. */
function pageRequest(isDeleted: boolean) {
  return (token: string | undefined) => {
    const page = token === undefined ? '' : `,"page_token":${JSON.stringify(token)}`;
    return {
      path: `${calls}/listevaluations`,
      body: `{"is_deleted":${isDeleted},"page_size":${pageSize}${page}}`,
    };
  };
}

/** The operation of section 4.1 of the interface document. */
export const restoreEvaluation = defineOperation({
  name: 'restore-evaluation',
  thing: 'evaluation',
  done: 'restored',
  summary: 'Restore deleted evaluations by their id',
  fields: restoreFields,
  subject: 'evaluation_id',
  request: (row) => ({ path: `${calls}/restoreevaluation`, body: inputJson(row) }),
  interpret: readSummary,
  columns: {
    evaluation_state: ({ evaluationState }) => evaluationState,
    scorecard_id: ({ scorecardId }) => scorecardId,
    scorer_id: ({ scorerId }) => scorerId,
    agent_user_id: ({ agentUserId }) => agentUserId,
    call_sid: ({ callSid, callMetadata }) => callSid ?? callMetadata?.callSid,
    conversation_sid: ({ conversationMetadata }) => conversationMetadata?.conversationSid,
    score: ({ score }) => score,
    completed_at: ({ completedAt }) => completedAt,
  },
  repeatable: true,
  // The permission to restore, from a public description of a service with this call.
  permission: 'PERMISSION_SCORECARDS_EVALUATE',
  list: {
    name: 'deleted-evaluations',
    request: pageRequest(true),
    entries: 'evaluations',
    next: 'next_page_token',
    read: evaluationSummary,
    fields: ['evaluation_id'],
    columns: {
      deleted_by: ({ deletedBy }) => deletedBy,
      deleted_at: ({ deletedAt }) => deletedAt,
      // False is left out by services that leave out zero values.
      is_recoverable: ({ isRecoverable }) => isRecoverable,
      agent_user_id: ({ agentUserId }) => agentUserId,
      scorer_id: ({ scorerId }) => scorerId,
      scorecard_id: ({ scorecardId }) => scorecardId,
      score: ({ score }) => score,
      evaluation_state: ({ evaluationState }) => evaluationState,
      completed_at: ({ completedAt }) => completedAt,
      channel_type: ({ channelType }) => channelType,
      call_sid: ({ callSid, callMetadata }) => callSid ?? callMetadata?.callSid,
      conversation_sid: ({ conversationMetadata }) => conversationMetadata?.conversationSid,
    },
    unfit: ({ isRecoverable }) => (isRecoverable === false ? 'is not recoverable' : undefined),
    absent: 'is not deleted (perhaps restored already; by whom and when is not known), or does not exist',
    done: {
      name: 'evaluations',
      request: pageRequest(false),
      // Asks for one evaluation. The description does not say whether the service finds deleted ones.
      one: (id) => ({ path: `${calls}/getevaluation`, body: `{"evaluation_id":${int64Json(id)}}` }),
      differs(body, evaluationId) {
        const read = readSummary(body, evaluationId);
        return read.ok ? undefined : read.message;
      },
    },
  },
  meansAlreadyApplied: ({ code, message }) => refusalCodes.has(code) && notDeleted.test(message),
});

/** Codes under which a service may say that there is nothing to restore. */
const refusalCodes: ReadonlySet<string> = new Set([
  'FAILED_PRECONDITION',
  'ALREADY_EXISTS',
  'INVALID_ARGUMENT',
  'CONFLICT',
]);

/**
 * The document gives no error texts (section 7), so this matches the usual wordings: "is not deleted", "has not been deleted",
 * "isn't in a deleted state", "only deleted evaluations", "already restored", "already active", `EVALUATION_NOT_DELETED`. It
 * does not match "not deleted by you", "not recoverable", "already deleted".
 */
const notDeleted =
  /(?:\bnot|_not|n['’]t)[\s_-]+(?:(?:been|currently|yet|in|a|soft|marked|as)[\s_-]+)*deleted\b(?!\s+by\b)|\bonly deleted\b|\balready[\s_-]+(?:been[\s_-]+)?(?:restored|active|undeleted)\b/i;
