import { readIdentifier } from '../model/integer.ts';
import type { RestoreRefusal } from '../state/evaluations.ts';
import { type Refusal, refuse } from './answer.ts';
import type { Endpoint, NotDeletedStatus } from './endpoint.ts';
import { readFields } from './fields.ts';

/** Interface document, section 4.1. `user_id` may be left out, as the document requires no field. */
export const restoreEvaluation: Endpoint = {
  operation: 'restore-evaluation',
  path: '/api/v1alpha1/scorecards/scorecards/restoreevaluation',

  read(body) {
    const reading = readFields(body, ['evaluation_id', 'user_id'], 'the request');
    if (!reading.ok) return reading;
    const id = readIdentifier(reading.fields.get('evaluation_id'));
    if (id === undefined) {
      return { ok: false, message: 'evaluation_id must be an integer from 1 to 9223372036854775807' };
    }
    const userId = reading.fields.get('user_id');
    if (userId !== undefined && typeof userId !== 'string') {
      return { ok: false, message: 'user_id must be a string' };
    }
    const caller = userId === undefined ? {} : { userId };
    return {
      ok: true,
      call: {
        id,
        ...caller,
        perform({ evaluations, now, notDeletedStatus }) {
          const result = evaluations.restore(String(id), { ...caller, at: now });
          return result.ok
            ? { kind: 'done', body: { evaluation: result.evaluation } }
            : { kind: 'refused', refusal: refusal(result.reason, String(id), notDeletedStatus) };
        },
      },
    };
  },

  withIdentifier: (body, id) => ({ evaluation: { ...(body['evaluation'] as object), evaluation_id: id } }),
};

function refusal(reason: RestoreRefusal, id: string, notDeletedStatus: NotDeletedStatus): Refusal {
  switch (reason) {
    case 'unknown':
      return refuse('NOT_FOUND', `evaluation ${id} was not found`);
    case 'not-deleted':
      return refuse(
        notDeletedStatus === '409' ? 'ALREADY_EXISTS' : 'FAILED_PRECONDITION',
        `evaluation ${id} is not deleted`,
      );
    case 'not-recoverable':
      return refuse('FAILED_PRECONDITION', `evaluation ${id} is not recoverable`);
  }
}
