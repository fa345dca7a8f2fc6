import { idempotencyKey, traceId, traceparent } from '../../domain/trace.ts';
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
 * - `traceparent`: one trace id for all calls of the row, another parent id for each;
 * - `Idempotency-Key`, if the run makes the keys of the operation: the API processes all calls with one key once, and answers each with the
 *   result. A row keeps the key of an earlier run that may have had it processed.
 */
export function callRequest(task: RowCall, operation: KeyedOperation, { key }: KeyedRun): ApiRequest {
  const { auth } = operation;
  if (key === undefined) return auth === undefined ? task : { ...task, auth };
  const trace = { traceparent: traceparent(traceId(key, task.row)) };
  const { method = 'POST', path, headers, body } = task;
  const own =
    operation.key === 'by run' ? { ...trace, [keyHeader]: task.key ?? idempotencyKey(key, task.row) } : trace;
  return { method, path, headers: headers === undefined ? own : { ...headers, ...own }, body, auth };
}

export function hasKey(operation: KeyedOperation, run: KeyedRun): boolean {
  return operation.key === 'by row' || (operation.key === 'by run' && run.key !== undefined);
}

/** A 409 says that the API still works on an earlier call with the key (section 2.6): the row must wait. */
export function keyedFailure(failure: ApiFailure, operation: KeyedOperation, run: KeyedRun): ApiFailure {
  if (failure.code !== 'CONFLICT' || !hasKey(operation, run)) return failure;
  return { ...failure, class: 'retry' };
}
