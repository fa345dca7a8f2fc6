import type { ApiFailure } from './failure.ts';

/** What the typed functions reject with. It holds the failure and nothing of the request. */
export class ApiError extends Error {
  override readonly name = 'ApiError';
  readonly failure: ApiFailure;

  constructor(failure: ApiFailure) {
    super(`${failure.code}: ${failure.message}`);
    this.failure = failure;
  }
}
