import { isUtf8 } from 'node:buffer';
import { parseJson } from '../../text/json.ts';
import { type Integer, type OmittedFields, readIdentifier, readInteger } from '../model/entities.ts';
import type { RestoreRefusal, State } from '../state/store.ts';
import { type BadRequest, badRequest, type Refusal, refuse } from './refusal.ts';
import { readFields } from './wire.ts';

/** The operations of the service, named as in `jobs/`. */
export type OperationName = 'restore-evaluation' | 'update-soundboard';

/** An operation of the service: how its request is read, done and answered. */
export interface Endpoint {
  readonly operation: OperationName;
  readonly path: string;
  /** Reads the request's parsed JSON. */
  readonly read: (body: unknown) => CallReading;
  /** The answer to a call that was done, with another identifier in it. */
  readonly withIdentifier: (body: AnswerBody, id: Integer) => AnswerBody;
}

type CallReading = { readonly ok: true; readonly call: Call } | BadRequest;

/** A request that the document allows. */
export interface Call {
  readonly id: Integer;
  /** The `user_id`, where the operation has one and the request gives it. */
  readonly userId?: string | undefined;
  /** Makes the change, or says why it cannot be made. */
  readonly perform: (context: CallContext) => Answer;
}

interface CallContext extends State {
  /** Time of the call in milliseconds since 1970. */
  readonly now: number;
  readonly omitted: OmittedFields;
  readonly notDeletedStatus: NotDeletedStatus;
}

/** The HTTP status with which restoring an evaluation that is not deleted is refused. */
export const notDeletedStatuses = ['400', '409'] as const;
export type NotDeletedStatus = (typeof notDeletedStatuses)[number];

/** What the service answers, before it is written in a style. */
export type Answer =
  /** 200. The document does not show the success status (section 4.3). */
  | { readonly kind: 'done'; readonly body: AnswerBody }
  | { readonly kind: 'refused'; readonly refusal: Refusal };

/** Keys in snake_case, integers exact. */
type AnswerBody = Readonly<Record<string, unknown>>;

/** Reads the call that a request's body asks for (interface document, section 4: JSON, and said to be JSON). */
export function readCall(endpoint: Endpoint, contentType: string | undefined, body: Buffer): CallReading {
  if (!/^application\/json\s*(;|$)/i.test(contentType ?? '')) {
    return badRequest('the header Content-Type must be application/json', { status: 415 });
  }
  if (!isUtf8(body)) return badRequest('the body is not UTF-8');
  let json: unknown;
  try {
    json = parseJson(body.toString('utf8'));
  } catch (error) {
    return badRequest(`the body is not JSON: ${error instanceof Error ? error.message : error}`);
  }
  return endpoint.read(json);
}

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
          return typeof result === 'string'
            ? { kind: 'refused', refusal: refusal(result, String(id), notDeletedStatus) }
            : { kind: 'done', body: { evaluation: result } };
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
): { readonly ok: true; readonly fields: Readonly<Record<string, unknown>> } | BadRequest {
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
