import { STATUS_CODES } from 'node:http';
import { findOperation } from '../../jobs/index.ts';

/**
 * Values of labels. Each is one of a list that is known here, because every other one that an API, or a worker of another
 * version, comes up with would be a time series of its own in Prometheus, for ever.
 */

/** What everything counts as that is not on a list. */
export const other = 'other';

/** Codes of results, as docs/report.md and docs/api-client.md explain them. */
const codes: ReadonlySet<string> = new Set([
  ...['OK', 'ALREADY_APPLIED', 'INVALID_ROW', 'DUPLICATE', 'DONE_BEFORE', 'SUPERSEDED'],
  ...['CANCELLED', 'UNKNOWN', 'INVALID_ARGUMENT', 'DEADLINE_EXCEEDED', 'NOT_FOUND', 'ALREADY_EXISTS'],
  ...['PERMISSION_DENIED', 'RESOURCE_EXHAUSTED', 'FAILED_PRECONDITION', 'ABORTED', 'OUT_OF_RANGE'],
  ...['UNIMPLEMENTED', 'INTERNAL', 'UNAVAILABLE', 'DATA_LOSS', 'UNAUTHENTICATED'],
  ...['REQUEST_TIMEOUT', 'CONFLICT', 'TOO_EARLY', 'BAD_GATEWAY', 'HTTP_REDIRECT'],
  ...['ANSWER_NOT_JSON', 'ANSWER_TOO_LARGE', 'ANSWER_ENCODING_UNKNOWN', 'ANSWER_ENCODING_BROKEN'],
  ...['ANSWER_INCOMPLETE', 'ANSWER_ID_MISMATCH', 'ANSWER_STILL_DELETED'],
  ...['ANSWER_NOT_HTTP', 'ANSWER_INFORMATIONAL', 'ANSWER_CUT_OFF', 'CONNECTION_LOST'],
  ...['CONNECTION_REFUSED', 'HOST_NOT_FOUND', 'CONNECT_TIMEOUT', 'CONNECT_FAILED', 'TLS_ERROR'],
  ...['PROXY_UNREACHABLE', 'PROXY_BAD_GATEWAY', 'PROXY_AUTHENTICATION', 'PROXY_REFUSED'],
  ...['HEADERS_TIMEOUT', 'BODY_TIMEOUT', 'TOTAL_TIMEOUT', 'INTERRUPTED', 'CLIENT_CLOSED'],
]);

export function codeLabel(code: string): string {
  return codes.has(code) ? code : other;
}

/** @param operation empty when the row does not say a known one */
export function operationLabel(operation: string): string {
  if (operation === '') return 'none';
  return findOperation(operation) === undefined ? other : operation;
}

/** Of an HTTP answer: those that are registered, and 499, which gateways give. @param status undefined: none came */
export function statusLabel(status: number | undefined): string {
  if (status === undefined) return 'none';
  return status === 499 || STATUS_CODES[status] !== undefined ? String(status) : other;
}
