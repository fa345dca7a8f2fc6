import { readIdentifier, readInteger } from '../model/integer.ts';
import type { SoundboardFields } from '../model/soundboard.ts';
import type { RestoreRefusal } from '../state/store.ts';
import type { Endpoint, NotDeletedStatus } from './endpoint.ts';
import { type BadRequest, badRequest, type Refusal, refuse } from './refusal.ts';
import { readFields } from './wire.ts';

/** Interface document, section 4.1. `user_id` may be left out, as the document requires no field. */
export const restoreEvaluation: Endpoint = {
  operation: 'restore-evaluation',
  path: '/api/v1alpha1/scorecards/scorecards/restoreevaluation',

  read(body) {
    const reading = readFields(body, ['evaluation_id', 'user_id'], 'the request');
    if (!reading.ok) return reading;
    const id = readIdentifier(reading.fields.get('evaluation_id'));
    if (id === undefined) return badRequest('evaluation_id must be an integer from 1 to 9223372036854775807');
    const userId = reading.fields.get('user_id');
    if (userId !== undefined && typeof userId !== 'string') return badRequest('user_id must be a string');
    return {
      ok: true,
      call: {
        id,
        userId,
        perform({ evaluations, now, notDeletedStatus }) {
          const result = evaluations.restore(String(id), { userId, at: now });
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

const textFields = ['file_name', 'file_type', 'title', 'description', 'date_created', 'last_modified'];
const sizeFields = ['file_size', 'recording_length'];
const soundboardFields = ['soundboard_id', ...textFields, ...sizeFields];

/** Interface document, section 4.2. */
export const updateSoundboard: Endpoint = {
  operation: 'update-soundboard',
  path: '/api/v1alpha1/org/soundboard/update',

  read(body) {
    const request = readFields(body, ['soundboard'], 'the request');
    if (!request.ok) return request;
    const reading = readFields(request.fields.get('soundboard'), soundboardFields, 'soundboard');
    if (!reading.ok) return reading;
    const id = readIdentifier(reading.fields.get('soundboard_id'));
    if (id === undefined) return badRequest('soundboard_id must be an integer from 1 to 9223372036854775807');
    const given = readSoundboardFields(reading.fields);
    if (!given.ok) return given;
    return {
      ok: true,
      call: {
        id,
        perform({ soundboards, now, omitted }) {
          const soundboard = soundboards.update(String(id), given.fields, omitted, now);
          return soundboard === undefined
            ? { kind: 'refused', refusal: refuse('NOT_FOUND', `soundboard ${id} was not found`) }
            : { kind: 'done', body: { soundboard_id: id } };
        },
      },
    };
  },

  withIdentifier: (_, id) => ({ soundboard_id: id }),
};

function readSoundboardFields(
  fields: ReadonlyMap<string, unknown>,
): { readonly ok: true; readonly fields: SoundboardFields } | BadRequest {
  const result: Record<string, unknown> = {};
  for (const name of textFields) {
    const value = fields.get(name);
    if (value === undefined) continue;
    if (typeof value !== 'string') return badRequest(`${name} must be a string`);
    result[name] = value;
  }
  for (const name of sizeFields) {
    if (!fields.has(name)) continue;
    const value = readInteger(fields.get(name));
    if (value === undefined || value < 0) return badRequest(`${name} must be an integer, 0 or more`);
    result[name] = value;
  }
  return { ok: true, fields: result };
}
