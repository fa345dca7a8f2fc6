import { readIdentifier, readInteger } from '../model/integer.ts';
import type { SoundboardFields } from '../model/soundboard.ts';
import { refuse } from './answer.ts';
import type { Endpoint } from './endpoint.ts';
import { readFields } from './fields.ts';

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
    if (id === undefined) {
      return { ok: false, message: 'soundboard_id must be an integer from 1 to 9223372036854775807' };
    }
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

type SoundboardReading =
  | { readonly ok: true; readonly fields: SoundboardFields }
  | { readonly ok: false; readonly message: string };

function readSoundboardFields(fields: ReadonlyMap<string, unknown>): SoundboardReading {
  const result: Record<string, unknown> = {};
  for (const name of textFields) {
    const value = fields.get(name);
    if (value === undefined) continue;
    if (typeof value !== 'string') return { ok: false, message: `${name} must be a string` };
    result[name] = value;
  }
  for (const name of sizeFields) {
    if (!fields.has(name)) continue;
    const value = readInteger(fields.get(name));
    if (value === undefined || value < 0) {
      return { ok: false, message: `${name} must be an integer, 0 or more` };
    }
    result[name] = value;
  }
  return { ok: true, fields: result };
}
