import type { Integer } from '../model/integer.ts';
import type { OmittedFields } from '../model/soundboard.ts';
import type { Evaluations } from '../state/evaluations.ts';
import type { Soundboards } from '../state/soundboards.ts';
import type { Answer, AnswerBody } from './answer.ts';

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

type CallReading =
  | { readonly ok: true; readonly call: Call }
  /** No request of the document; `message` says why. */
  | { readonly ok: false; readonly message: string };

/** A request that the document allows. */
export interface Call {
  readonly id: Integer;
  /** The `user_id`, where the operation has one and the request gives it. */
  readonly userId?: string;
  /** Makes the change, or says why it cannot be made. */
  readonly perform: (context: CallContext) => Answer;
}

export interface CallContext {
  readonly evaluations: Evaluations;
  readonly soundboards: Soundboards;
  /** Time of the call in milliseconds since 1970. */
  readonly now: number;
  readonly omitted: OmittedFields;
  readonly notDeletedStatus: NotDeletedStatus;
}

/** The HTTP status with which restoring an evaluation that is not deleted is refused. */
export type NotDeletedStatus = '400' | '409';
