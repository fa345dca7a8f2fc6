import { isUtf8 } from 'node:buffer';
import type { z } from 'zod';
import { parseJson } from '../base/text/json.ts';
import { type Decision, type Refusal, refuse } from './answer.ts';
import { badRequest, errorInfo } from './error-details.ts';
import { evaluationsQuery, listEvaluations, listSoundboards } from './lists.ts';
import { evaluationAnswer, updateAnswer } from './messages.ts';
import type { SandboxSettings } from './options.ts';
import { documentFields, identifier, protobufFields, type RequestFields, text } from './request-fields.ts';
import type { Shape } from './shapes.ts';
import { soundboardIn } from './soundboard.ts';
import type { State } from './state.ts';

export interface Endpoint {
  /** The name of the operation in `jobs/`, or of a read. */
  readonly operation: string;
  readonly path: string;
  /** The permission for a read, which changes nothing. */
  readonly readPermission?: string;
  readonly request: Readonly<Record<Shape['requests'], z.ZodType<Call>>>;
}

export interface Call {
  /** The identifier that a call names. Absent in calls for a list. */
  readonly id?: bigint;
  readonly userId?: string | undefined;
  /** The token of a page, in calls for one. */
  readonly page?: string | undefined;
  /** Makes the change, or refuses it. `now` is in milliseconds since 1970, `nth` as in the log. */
  readonly perform: (state: State, now: number, nth: number) => Decision;
}

const evaluationsPermission = 'PERMISSION_SCORECARDS_EVALUATE';

/** The document requires only the identifier; null counts as left out. It does not have the reads, which are of the public description. */
export const endpoints: readonly Endpoint[] = [
  {
    operation: 'restore-evaluation',
    path: '/api/v1alpha1/scorecards/scorecards/restoreevaluation',
    // Interface document, section 4.1.
    request: readIn(({ message }) =>
      message({ evaluation_id: identifier, user_id: text }).transform(
        ({ evaluation_id: id, user_id }): Call => {
          const userId = user_id ?? undefined;
          return { id, userId, perform: (state, now) => restore(state, id, userId, now) };
        },
      ),
    ),
  },
  {
    operation: 'update-soundboard',
    path: '/api/v1alpha1/org/soundboard/update',
    // Interface document, section 4.2.
    request: readIn((fields) =>
      fields
        .message({ soundboard: soundboardIn(fields) })
        .transform(({ soundboard: { soundboard_id: id, ...given } }): Call => {
          const changed = Object.fromEntries(Object.entries(given).filter(([, value]) => value != null));
          return { id, perform: (state, now) => update(state, id, changed, now) };
        }),
    ),
  },
  {
    operation: 'list-evaluations',
    path: '/api/v1alpha1/scorecards/scorecards/listevaluations',
    readPermission: evaluationsPermission,
    request: readIn((fields) =>
      evaluationsQuery(fields).transform(
        (query): Call => ({
          page: query.page_token ?? undefined,
          perform: (state, now) => listEvaluations(state, query, now),
        }),
      ),
    ),
  },
  {
    operation: 'get-evaluation',
    path: '/api/v1alpha1/scorecards/scorecards/getevaluation',
    readPermission: evaluationsPermission,
    request: readIn(({ message }) =>
      message({ evaluation_id: identifier }).transform(
        ({ evaluation_id: id }): Call => ({ id, perform: (state) => getEvaluation(state, id) }),
      ),
    ),
  },
  {
    operation: 'list-soundboards',
    path: '/api/v1alpha1/org/soundboard/list',
    readPermission: 'PERMISSION_SOUNDBOARD_VIEW',
    request: readIn(({ message }) => message({}).transform((): Call => ({ perform: listSoundboards }))),
  },
];

function readIn(request: (fields: RequestFields) => z.ZodType<Call>): Endpoint['request'] {
  return { document: request(documentFields), protobuf: request(protobufFields) };
}

function restore(state: State, id: bigint, userId: string | undefined, now: number): Decision {
  const result = state.restore(id, { userId, at: now });
  if (typeof result === 'object') return { result: { evaluation: result }, type: evaluationAnswer };
  const code = result === 'was not found' ? 'NOT_FOUND' : 'FAILED_PRECONDITION';
  return refuse(code, `evaluation ${id} ${result}`, { details: [errorInfo(restoreReasons[result])] });
}

const restoreReasons = {
  'was not found': 'EVALUATION_NOT_FOUND',
  'is not deleted': 'EVALUATION_NOT_DELETED',
  'is not recoverable': 'EVALUATION_NOT_RECOVERABLE',
} as const;

function getEvaluation(state: State, id: bigint): Decision {
  const evaluation = state.evaluation(id);
  return evaluation
    ? { result: { evaluation }, type: evaluationAnswer }
    : refuse('NOT_FOUND', `evaluation ${id} was not found`, { details: [errorInfo('EVALUATION_NOT_FOUND')] });
}

function update(state: State, id: bigint, fields: object, now: number): Decision {
  return state.update(id, fields, now)
    ? { result: { soundboard_id: id }, type: updateAnswer }
    : refuse('NOT_FOUND', `soundboard ${id} was not found`, { details: [errorInfo('SOUNDBOARD_NOT_FOUND')] });
}

/** JSON, with the content type of JSON (interface document, section 4). */
export function readCall(
  { request }: Endpoint,
  { requests, wrongContentType }: Shape,
  contentType: string | undefined,
  body: Buffer | undefined,
  numbers: SandboxSettings['numbers'],
): Call | Refusal {
  if (body === undefined) return refuse('INVALID_ARGUMENT', 'the body is incomplete');
  if (wrongContentType && !/^application\/json\s*(;|$)/i.test(contentType ?? '')) return wrongContentType;
  if (!isUtf8(body)) return refuse('INVALID_ARGUMENT', 'the body is not UTF-8');
  let json: unknown;
  try {
    json = (numbers === 'rounded' ? JSON.parse : parseJson)(body.toString('utf8'));
  } catch (error) {
    return refuse(
      'INVALID_ARGUMENT',
      `the body is not JSON: ${error instanceof Error ? error.message : error}`,
    );
  }
  const { data, error } = request[requests].safeParse(json);
  if (data !== undefined) return data;
  const [issue] = error.issues;
  const { path = [], message = '' } = issue ?? {};
  return refuse('INVALID_ARGUMENT', [...path, message].join(': '), {
    details: path.length > 0 ? [badRequest(path.join('.'), message)] : [],
  });
}
