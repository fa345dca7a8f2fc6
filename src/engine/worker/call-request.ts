import { idempotencyKey, traceId } from '../../domain/trace.ts';
import type { ApiFailure } from '../api/failure.ts';
import type { ApiRequest } from '../api/request.ts';
import { keyHeader } from '../operation/header-rules.ts';
import type { Operation } from '../operation/operation.ts';
import type { RowCall, RunPolicy } from '../queue/payload.ts';

type KeyedOperation = Pick<Operation, 'key' | 'auth'>;
type KeyedRun = Pick<RunPolicy, 'key'>;

/**
 * The row's request, with headers that name the row to the API:
 *
 * - `traceparent` (W3C Trace Context): one trace id for all calls of the row, another parent id for each. It asks to record the trace, so
 *   that the owners of the service find the call.
 * - `Idempotency-Key`, if the run makes the keys of the operation: the API processes all calls with one key once, and answers each with the
 *   result. A row keeps the key of an earlier run that may have had it processed.
 */
export function callRequest(task: RowCall, operation: KeyedOperation, { key }: KeyedRun): ApiRequest {
  const { auth } = operation;
  if (key === undefined) return auth === undefined ? task : { ...task, auth };
  const traceparent = `00-${traceId(key, task.row)}-${randomDigits()}${randomDigits()}-01`;
  const { method = 'POST', path, headers, body } = task;
  const own =
    operation.key === 'by run'
      ? { traceparent, [keyHeader]: task.key ?? idempotencyKey(key, task.row) }
      : { traceparent };
  return { method, path, headers: headers === undefined ? own : { ...headers, ...own }, body, auth };
}

/** Never zeros only. `randomBytes` takes ten times as long. */
function randomDigits(): string {
  return (1 + Math.floor(Math.random() * 0xffff_ffff)).toString(16).padStart(8, '0');
}

export function hasKey(operation: KeyedOperation, run: KeyedRun): boolean {
  return operation.key === 'by row' || (operation.key === 'by run' && run.key !== undefined);
}

/** A 409 says that the API still works on an earlier call with the key (section 2.6): the row must wait. */
export function keyedFailure(failure: ApiFailure, operation: KeyedOperation, run: KeyedRun): ApiFailure {
  if (failure.code !== 'CONFLICT' || !hasKey(operation, run)) return failure;
  return { ...failure, class: 'retry' };
}
