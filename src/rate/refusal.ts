import type { ApiFailure } from '../api/failure.ts';

/** Whether a failure leaves open what it is: a limit that says no more than 503, or an accident of the API. */
export function isUnavailable({ class: failureClass, status, waitMs }: KindOfFailure): boolean {
  return failureClass === 'retry' && status === 503 && waitMs === undefined;
}

/**
 * Whether a failure says that calls are too many.
 *
 * @param refuses503 whether 503s are known to depend on the rate
 */
export function isRefusal(failure: KindOfFailure, refuses503: boolean): boolean {
  return failure.class === 'slow-down' || (refuses503 && isUnavailable(failure));
}

export type KindOfFailure = Pick<ApiFailure, 'class' | 'status' | 'waitMs'>;
