import { isUtf8 } from 'node:buffer';
import { parseJson } from '../../json.ts';
import type { Integer } from '../model/integer.ts';
import type { OmittedFields } from '../model/soundboard.ts';
import type { State } from '../state/store.ts';
import { type BadRequest, badRequest, type Refusal } from './refusal.ts';

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
