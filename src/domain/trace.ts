import { hash } from 'node:crypto';

/** 64 hexadecimal digits, from which the names of a row's calls are made. */
export function rowDigest(runKey: string, place: number): string {
  return hash('sha256', `${runKey}\n${place}`, 'hex');
}

/** The trace id of a row: 32 hexadecimal digits (W3C Trace Context, section 3.2.2.3), the same for all calls of a row. */
export function traceId(runKey: string, place: number): string {
  return rowDigest(runKey, place).slice(0, 32);
}

/** The header of a call (W3C Trace Context). It asks to record the trace, so that the owners of the service find the call. */
export function traceparent(traceId: string): string {
  return `00-${traceId}-${randomDigits()}${randomDigits()}-01`;
}

/** An id of a call, never zeros only. `randomBytes` takes ten times as long. */
function randomDigits(): string {
  return (1 + Math.floor(Math.random() * 0xffff_ffff)).toString(16).padStart(8, '0');
}

/**
 * The key under which the API processes all calls of a row once (draft-ietf-httpapi-idempotency-key-header-07): a UUID of version 8
 * (RFC 9562, section 5.8), in quotes.
 */
export function idempotencyKey(runKey: string, place: number): string {
  const hex = rowDigest(runKey, place);
  return `"${hex.slice(0, 8)}-${hex.slice(8, 12)}-8${hex.slice(13, 16)}-8${hex.slice(17, 20)}-${hex.slice(20, 32)}"`;
}
