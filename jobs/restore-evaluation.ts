import {
  getEvaluationRequest,
  listDeletedEvaluationsRequest,
  listEvaluationsRequest,
} from '../src/engine/api/endpoints/lists.ts';
import {
  readRestoreEvaluationSummary,
  restoreEvaluationRequest,
} from '../src/engine/api/endpoints/restore-evaluation.ts';
import { evaluationSummary } from '../src/engine/api/model/entities.ts';
import { defineOperation } from '../src/engine/operation/operation.ts';

/** Interface document, section 4.1. */
export const restoreEvaluation = defineOperation({
  name: 'restore-evaluation',
  thing: 'evaluation',
  done: 'restored',
  summary: 'Restore deleted evaluations by their id',
  // The document does not say which fields are required (section 2.7); its request body has exactly these two.
  fields: {
    evaluation_id: { type: 'integer', min: 1, required: true },
    user_id: { type: 'identifier', required: true, option: '<id>' },
  },
  subject: 'evaluation_id',
  request: (row) => restoreEvaluationRequest({ evaluationId: row.evaluation_id, userId: row.user_id }),
  interpret: (body, evaluationId) => readRestoreEvaluationSummary(evaluationId, body),
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
  // From a public description of a service with this call.
  permission: 'PERMISSION_SCORECARDS_EVALUATE',
  list: {
    name: 'deleted-evaluations',
    request: listDeletedEvaluationsRequest,
    entries: 'evaluations',
    next: 'next_page_token',
    read: evaluationSummary,
    fields: ['evaluation_id'],
    columns: {
      deleted_by: ({ deletedBy }) => deletedBy,
      deleted_at: ({ deletedAt }) => deletedAt,
      // Services that leave out zero values leave out false.
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
      request: listEvaluationsRequest,
      one: getEvaluationRequest,
      differs(body, evaluationId) {
        const read = readRestoreEvaluationSummary(evaluationId, body);
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
