import { type FailureClass, type FailureCode, failureFacts } from '../../domain/codes.ts';

/** Failures are values; `docs/api-client.md` lists all. */
export interface ApiFailure {
  readonly class: FailureClass;
  /** Stable: a `google.rpc.Code` name (`NOT_FOUND`), or a code of this client (`CONNECTION_LOST`). */
  readonly code: FailureCode;
  /** One line for display. Text of the server is shortened and cleaned; the token never appears. */
  readonly message: string;
  /** Present when the head of an answer arrived. */
  readonly status?: number;
  /** How long to wait from now, as the API asks; at most `maxWaitMs` (see `wait-reader.ts`). */
  readonly waitMs?: number;
  /** What asks for more than a minute: `Retry-After: 7200`. */
  readonly waitBy?: string;
  /** The request may have been processed though no usable answer came. */
  readonly unclear: boolean;
}

export function mayBeOfRouter(status: number | undefined): boolean {
  return status === 404 || status === 405 || status === 501;
}

/** @param more values that differ from those of the code */
export function apiFailure(
  code: FailureCode,
  message: string,
  more: Partial<Omit<ApiFailure, 'code' | 'message'>> = {},
): ApiFailure {
  const { class: failureClass, unclear = false } = failureFacts(code);
  return { class: failureClass, code, message, unclear, ...more };
}

/** Rejection of the typed functions. Contains the failure, and no part of the request. */
export class ApiError extends Error {
  override readonly name = 'ApiError';
  readonly failure: ApiFailure;

  constructor(failure: ApiFailure) {
    super(`${failure.code}: ${failure.message}`);
    this.failure = failure;
  }
}
