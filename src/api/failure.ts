import type { FailureCode } from '../codes.ts';

/**
 * Why an API call gave no usable answer. Failures are values; `docs/api-client.md` lists all of them.
 *
 * The classes say what to do about the row:
 *
 * - `retry`: try again later, several times.
 * - `unreachable`: the request was not sent, because no connection came about: wait and try again. Costs no attempt.
 * - `slow-down`: the API refuses calls for now; wait and try again. Costs no attempt.
 * - `permanent`: the same request will fail again.
 * - `halt`: every other request will fail too; stop the run.
 * - `halt-early`: stop the run when nothing has succeeded yet (wrong base URL, wrong permissions); otherwise `permanent`.
 * - `aborted`: the caller's signal stopped the call, or the client was closed.
 */
export type FailureClass =
  | 'retry'
  | 'unreachable'
  | 'slow-down'
  | 'permanent'
  | 'halt'
  | 'halt-early'
  | 'aborted';

export interface ApiFailure {
  readonly class: FailureClass;
  /** Stable, upper-case: a `google.rpc.Code` name (`NOT_FOUND`), or a code of this client (`CONNECTION_LOST`). */
  readonly code: FailureCode;
  /** One line for people. Parts that come from the server are cut and cleaned; the token never appears. */
  readonly message: string;
  /** HTTP status, when the head of an answer arrived. */
  readonly status?: number;
  /** How long the API asks to wait, in milliseconds from now; at most `maxWaitMs` (see `classify/waiting-time.ts`). */
  readonly waitMs?: number;
  /** Whether the request may have been processed though no usable answer came. */
  readonly unclear: boolean;
}

/** What the typed functions reject with. It holds the failure and nothing of the request. */
export class ApiError extends Error {
  override readonly name = 'ApiError';
  readonly failure: ApiFailure;

  constructor(failure: ApiFailure) {
    super(`${failure.code}: ${failure.message}`);
    this.failure = failure;
  }
}
