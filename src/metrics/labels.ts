import { STATUS_CODES } from 'node:http';
import { rowCodes } from '../codes.ts';
import { findOperation, type Operation } from '../operation/operation.ts';

/**
 * Values of labels. Each is one of a list that is known here, because every other one that an API, or a worker of another
 * version, comes up with would be a time series of its own in Prometheus, for ever.
 */

/** What everything counts as that is not on a list. */
export const other = 'other';

/** Codes of results, as docs/report.md and docs/api-client.md explain them. */
const codes: ReadonlySet<string> = new Set(rowCodes);

export function codeLabel(code: string): string {
  return codes.has(code) ? code : other;
}

/** @param operation empty when the row does not say a known one */
export function operationLabel(operation: string, known: readonly Operation[]): string {
  if (operation === '') return 'none';
  return findOperation(known, operation) === undefined ? other : operation;
}

/** Of an HTTP answer: those that are registered, and 499, which gateways give. @param status undefined: none came */
export function statusLabel(status: number | undefined): string {
  if (status === undefined) return 'none';
  return status === 499 || STATUS_CODES[status] !== undefined ? String(status) : other;
}
