import { z } from 'zod';
import {
  readRestoreEvaluationSummary,
  restoreEvaluationRequest,
} from '../src/api/endpoints/restore-evaluation.ts';
import type { EvaluationSummary } from '../src/api/model/entities.ts';
import { defineOperation } from '../src/operation/operation.ts';
import { integerField, textField } from '../src/operation/row-fields.ts';

const schema = z.object({
  evaluation_id: integerField({ min: 1, missing: 'missing; every row needs the column evaluation_id' }),
  user_id: textField({
    isIdentifier: true,
    missing: 'missing; add a column user_id, or pass --user-id USER for all rows',
  }),
});

/** Interface document, section 4.1. */
export const restoreEvaluation = defineOperation<z.infer<typeof schema>>({
  name: 'restore-evaluation',
  thing: 'evaluation',
  summary: 'Restore deleted evaluations by their id',
  // The document does not say what is required (section 2.7); its request body has exactly these two fields.
  fields: [
    {
      name: 'evaluation_id',
      type: 'integer',
      required: true,
      description: 'Id of the deleted evaluation, 1 to 9223372036854775807',
    },
    {
      name: 'user_id',
      type: 'string',
      required: true,
      description: 'Id of the user who restores it; --user-id gives a default',
    },
  ],
  schema,
  takesOldValues: false,
  subject: (row) => row.evaluation_id,
  request: (row) => restoreEvaluationRequest({ evaluationId: row.evaluation_id, userId: row.user_id }),
  columns: Object.keys(columnsOf({})),
  check: (subject, body) => {
    const reading = readRestoreEvaluationSummary(subject, body);
    return reading.ok ? { ok: true, columns: columnsOf(reading.value) } : reading;
  },
  meansAlreadyApplied: ({ code, message }) => refusalCodes.has(code) && notDeleted.test(message),
});

function columnsOf(evaluation: EvaluationSummary): Record<string, string> {
  const { callMetadata, conversationMetadata } = evaluation;
  return {
    evaluation_state: cell(evaluation.evaluationState),
    scorecard_id: cell(evaluation.scorecardId),
    scorer_id: cell(evaluation.scorerId),
    agent_user_id: cell(evaluation.agentUserId),
    call_sid: cell(evaluation.callSid ?? callMetadata?.callSid),
    conversation_sid: cell(conversationMetadata?.conversationSid),
    score: cell(evaluation.score),
    completed_at: cell(evaluation.completedAt),
  };
}

function cell(value: string | bigint | number | undefined): string {
  return value === undefined ? '' : String(value);
}

/** Codes under which a service may say that there is nothing to restore. */
const refusalCodes: ReadonlySet<string> = new Set([
  'FAILED_PRECONDITION',
  'ALREADY_EXISTS',
  'INVALID_ARGUMENT',
  'CONFLICT',
]);

/**
 * The document gives no error texts (section 7), so the usual wordings are recognised: "is not deleted", "has not been
 * deleted", "isn't in a deleted state", "only deleted evaluations", "already restored", "already active",
 * `EVALUATION_NOT_DELETED`. Not: "not deleted by you", "not recoverable", "already deleted".
 */
const notDeleted =
  /(?:\bnot|_not|n['’]t)[\s_-]+(?:(?:been|currently|yet|in|a|soft|marked|as)[\s_-]+)*deleted\b(?!\s+by\b)|\bonly deleted\b|\balready[\s_-]+(?:been[\s_-]+)?(?:restored|active|undeleted)\b/i;
