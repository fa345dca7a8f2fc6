import { type FailureClass, type FailureCode, failureFacts } from '../../domain/codes.ts';

/** Why an API call gave no usable answer. Failures are values; `docs/api-client.md` lists all of them. */
export interface ApiFailure {
  readonly class: FailureClass;
  /** Stable, upper-case: a `google.rpc.Code` name (`NOT_FOUND`), or a code of this client (`CONNECTION_LOST`). */
  readonly code: FailureCode;
  /** One line for display. Text of the server is shortened and cleaned; the token never appears. */
  readonly message: string;
  /** HTTP status, when the head of an answer arrived. */
  readonly status?: number;
  /** How long the API asks to wait, in milliseconds from now; at most `maxWaitMs` (see `wait-reader.ts`). */
  readonly waitMs?: number;
  /** What asks for `waitMs`, if that is more than a minute: `Retry-After: 7200`. */
  readonly waitBy?: string;
  /** Whether the request may have been processed though no usable answer came. */
  readonly unclear: boolean;
}

/** Whether a router may have answered with this status, because it has nothing at the path, or not for this method. */
export function mayBeOfRouter(status: number | undefined): boolean {
  return status === 404 || status === 405 || status === 501;
}

/** Makes a failure. `class` and `unclear` are those of the code, unless `more` sets them. */
export function apiFailure(
  code: FailureCode,
  message: string,
  more: Partial<Omit<ApiFailure, 'code' | 'message'>> = {},
): ApiFailure {
  const { class: failureClass, unclear = false } = failureFacts(code);
  return { class: failureClass, code, message, unclear, ...more };
}

/** The error with which the typed functions reject. It contains the failure, and no part of the request. */
export class ApiError extends Error {
  override readonly name = 'ApiError';
  readonly failure: ApiFailure;

  constructor(failure: ApiFailure) {
    super(`${failure.code}: ${failure.message}`);
    this.failure = failure;
  }
}
