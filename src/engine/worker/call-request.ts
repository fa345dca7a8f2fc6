import { rowDigest } from '../../domain/trace.ts';
import type { ApiFailure } from '../api/failure.ts';
import type { ApiRequest } from '../api/request.ts';
import type { Operation } from '../operation/operation.ts';
import type { RowCall, RunPolicy } from '../queue/payload.ts';

type KeyedOperation = Pick<Operation, 'idempotencyKey'>;
type KeyedRun = Pick<RunPolicy, 'key'>;

/**
 * The row's request, with headers that name the row to the API:
 *
 * - `traceparent` (W3C Trace Context): one trace id for all calls of the row, another parent id for each. It asks to record the trace, so
 *   that the owners of the service find the call.
 * - `Idempotency-Key` (draft-ietf-httpapi-idempotency-key-header-07), if the operation has one: the API processes all calls with one key
 *   once, and answers each with the result.
 */
export function callRequest(task: RowCall, operation: KeyedOperation, { key }: KeyedRun): ApiRequest {
  if (key === undefined) return task;
  const digest = rowDigest(key, task.row);
  const traceparent = `00-${digest.slice(0, 32)}-${randomDigits()}${randomDigits()}-01`;
  const { method = 'POST', path, headers, body } = task;
  const own = operation.idempotencyKey
    ? { traceparent, 'idempotency-key': `"${uuidOf(digest)}"` }
    : { traceparent };
  return { method, path, headers: headers === undefined ? own : { ...headers, ...own }, body };
}

/** Never zeros only. `randomBytes` takes ten times as long. */
function randomDigits(): string {
  return (1 + Math.floor(Math.random() * 0xffff_ffff)).toString(16).padStart(8, '0');
}

/** RFC 9562, section 5.8: the version is 8, the variant 10. */
function uuidOf(hex: string): string {
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-8${hex.slice(13, 16)}-8${hex.slice(17, 20)}-${hex.slice(20, 32)}`;
}

export function hasKey({ idempotencyKey }: KeyedOperation, { key }: KeyedRun): boolean {
  return idempotencyKey === true && key !== undefined;
}

/** A 409 says that the API still works on an earlier call with the key (section 2.6): the row must wait. */
export function keyedFailure(failure: ApiFailure, operation: KeyedOperation, run: KeyedRun): ApiFailure {
  if (failure.code !== 'CONFLICT' || !hasKey(operation, run)) return failure;
  return { ...failure, class: 'retry' };
}
