import { createHash } from 'node:crypto';
import type { ApiFailure } from '../api/failure.ts';
import type { ApiRequest } from '../api/request.ts';
import type { Operation } from '../operation/operation.ts';
import type { RowTask, RunPolicy } from '../queue/payload.ts';

/**
 * The header field `Idempotency-Key` (draft-ietf-httpapi-idempotency-key-header-07): the API processes all calls with one key once, and
 * answers each of them with the result.
 */

type KeyedOperation = Pick<Operation, 'idempotencyKey'>;
type KeyedRun = Pick<RunPolicy, 'key'>;

/** Whether all calls of a row have the same key. */
export function hasKey({ idempotencyKey }: KeyedOperation, { key }: KeyedRun): boolean {
  return idempotencyKey === true && key !== undefined;
}

/** The request of a row, with its key if it has one: a structured string (section 2.1) with a UUID made of the run and the row. */
export function keyedRequest(task: RowTask, operation: KeyedOperation, run: KeyedRun): ApiRequest {
  if (!hasKey(operation, run)) return task;
  const hex = createHash('sha256').update(`${run.key}\n${task.row}`).digest('hex');
  // RFC 9562, section 5.8: the version is 8, the variant 10.
  const uuid = `${hex.slice(0, 8)}-${hex.slice(8, 12)}-8${hex.slice(13, 16)}-8${hex.slice(17, 20)}-${hex.slice(20, 32)}`;
  return { ...task, headers: { ...task.headers, 'idempotency-key': `"${uuid}"` } };
}

/**
 * What a failure means for a row whose calls have one key: a 409 says that the API still works on an earlier call (section 2.6), so the row
 * must wait.
 */
export function keyedFailure(failure: ApiFailure, operation: KeyedOperation, run: KeyedRun): ApiFailure {
  if (failure.code !== 'CONFLICT' || !hasKey(operation, run)) return failure;
  return { ...failure, class: 'retry' };
}
