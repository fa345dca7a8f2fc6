import { isUtf8 } from 'node:buffer';
import { z } from 'zod';
import { parseJson } from '../base/text/json.ts';
import { done, type HttpAnswer, type Refusal, refuse } from './answer.ts';
import { maxIdentifier } from './notation.ts';
import type { State } from './state.ts';

/** An operation of the service: how its request is read, and what it does. */
export interface Endpoint {
  /** Name of the operation in `jobs/`. */
  readonly operation: string;
  readonly path: string;
  readonly request: z.ZodType<Call>;
}

/** A request that conforms to the interface document. */
export interface Call {
  readonly id: bigint;
  /** The `user_id`, where the operation has one and the request gives it. */
  readonly userId?: string | undefined;
  /** Makes the change, or says why it cannot be made. `now` is in milliseconds since 1970. */
  readonly perform: (state: State, now: number) => HttpAnswer;
}

/** An integer that JSON gives as a number or, as Protocol Buffers do with 64 bits, as a decimal string. */
const integer = z
  .union([z.bigint(), z.int(), z.string().regex(/^\d{1,19}$/)], 'must be an integer')
  .transform((value) => BigInt(value));
const identifier = integer.pipe(z.bigint().min(1n).max(maxIdentifier));
const size = integer.pipe(z.bigint().min(0n).max(maxIdentifier)).nullish();
const text = z.string().nullish();

/** The document requires only the identifier; `null` counts as left out, and unknown fields are mistakes. */
export const endpoints: readonly Endpoint[] = [
  {
    operation: 'restore-evaluation',
    path: '/api/v1alpha1/scorecards/scorecards/restoreevaluation',
    // Interface document, section 4.1.
    request: z
      .strictObject({ evaluation_id: identifier, user_id: text })
      .transform(({ evaluation_id: id, user_id }): Call => {
        const userId = user_id ?? undefined;
        return { id, userId, perform: (state, now) => restore(state, id, userId, now) };
      }),
  },
  {
    operation: 'update-soundboard',
    path: '/api/v1alpha1/org/soundboard/update',
    // Interface document, section 4.2.
    request: z
      .strictObject({
        soundboard: z.strictObject({
          soundboard_id: identifier,
          file_name: text,
          file_type: text,
          title: text,
          description: text,
          date_created: text,
          last_modified: text,
          file_size: size,
          recording_length: size,
        }),
      })
      .transform(({ soundboard: { soundboard_id: id, ...given } }): Call => {
        const fields = Object.fromEntries(Object.entries(given).filter(([, value]) => value != null));
        return { id, perform: (state, now) => update(state, id, fields, now) };
      }),
  },
];

function restore(state: State, id: bigint, userId: string | undefined, now: number): HttpAnswer {
  const result = state.restore(id, { userId, at: now });
  if (typeof result === 'object') return done({ evaluation: result });
  const code = result === 'was not found' ? 'NOT_FOUND' : 'FAILED_PRECONDITION';
  return refuse(code, `evaluation ${id} ${result}`);
}

function update(state: State, id: bigint, fields: object, now: number): HttpAnswer {
  return state.update(id, fields, now)
    ? done({ soundboard_id: id })
    : refuse('NOT_FOUND', `soundboard ${id} was not found`);
}

/** Reads the call that a request's body asks for (interface document, section 4: JSON, with the content type of JSON). */
export function readCall(
  { request }: Endpoint,
  contentType: string | undefined,
  body: Buffer | undefined,
): Call | Refusal {
  if (body === undefined) return refuse('INVALID_ARGUMENT', 'the body is incomplete');
  if (!/^application\/json\s*(;|$)/i.test(contentType ?? '')) {
    return refuse('INVALID_ARGUMENT', 'the header Content-Type must be application/json', { status: 415 });
  }
  if (!isUtf8(body)) return refuse('INVALID_ARGUMENT', 'the body is not UTF-8');
  let json: unknown;
  try {
    json = parseJson(body.toString('utf8'));
  } catch (error) {
    return refuse(
      'INVALID_ARGUMENT',
      `the body is not JSON: ${error instanceof Error ? error.message : error}`,
    );
  }
  const { data, error } = request.safeParse(json);
  if (data !== undefined) return data;
  const [issue] = error.issues;
  return refuse('INVALID_ARGUMENT', [...(issue?.path ?? []), issue?.message].join(': '));
}
