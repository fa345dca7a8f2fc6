import { hash } from 'node:crypto';
import { usageError } from '../../base/errors/errors.ts';
import type { ApiRequest } from '../api/request.ts';
import { findOperation, type Operation } from './operation.ts';
import type { Row } from './row-fields.ts';

/** A row's operation and values, of which its request is made. Files and batches have these, never the request. */
interface RowValues {
  /** The name of the operation. */
  readonly operation: string;
  readonly values: Row;
}

/** The characters of a request's digest: 132 bits of a SHA-256, so no other request with the same digest can be found. */
const digestLength = 22;

export function requestDigest({ method = 'POST', path, headers, body }: ApiRequest): string {
  const fields = headers === undefined ? '' : JSON.stringify(headers);
  return hash('sha256', `${method} ${path}\n${fields}\n${body}`, 'base64url').slice(0, digestLength);
}

/** Makes the request of a row. @throws a usage error `OPERATION_MISSING`, or `OPERATION_FAILED` when the user's module throws */
export function requestOfValues(
  operations: readonly Operation[],
  { operation: name, values }: RowValues,
): ApiRequest {
  return operationNamed(operations, name).request(values);
}

/** The operation with this name. @throws a usage error `OPERATION_MISSING` */
export function operationNamed(operations: readonly Operation[], name: string): Operation {
  const operation = findOperation(operations, name);
  if (operation !== undefined) return operation;
  throw usageError(
    'OPERATION_MISSING',
    `The operation ${name} is not loaded: pass --operations with the module that has it, or set CQBATCH_OPERATIONS.`,
  );
}

/**
 * Makes the request that the plan showed again.
 *
 * @throws a usage error `REQUEST_CHANGED` for another request than the one with this digest; the errors of `requestOfValues`
 */
export function shownRequest(
  operations: readonly Operation[],
  row: RowValues & { readonly row: number; readonly requestDigest: string },
): ApiRequest {
  const request = requestOfValues(operations, row);
  if (requestDigest(request) === row.requestDigest) return request;
  throw usageError(
    'REQUEST_CHANGED',
    `The operation ${row.operation} makes another request of row ${row.row} than the one that the plan showed, so it is not sent. ` +
      'Use the version of cqbatch, and the module of --operations, that made the plan; or make a new plan.',
  );
}

/** The request that the plan showed, for display without the user's modules. Undefined if its operation is not loaded or has changed. */
export function shownRequestIfKnown(
  operations: readonly Operation[],
  row: RowValues & { readonly requestDigest: string },
): ApiRequest | undefined {
  const request = findOperation(operations, row.operation)?.request(row.values);
  if (request === undefined) return undefined;
  return requestDigest(request) === row.requestDigest ? request : undefined;
}
