import type { Verdict } from './rpc-code.ts';

/** What an HTTP status means when the body has no canonical code. */
export interface StatusVerdict extends Verdict {
  readonly code: string;
}

const verdicts = new Map<number, StatusVerdict>([
  [400, { code: 'INVALID_ARGUMENT', class: 'permanent', unclear: false }],
  [401, { code: 'UNAUTHENTICATED', class: 'halt', unclear: false }],
  [403, { code: 'PERMISSION_DENIED', class: 'halt-early', unclear: false }],
  [404, { code: 'NOT_FOUND', class: 'permanent', unclear: false }],
  [408, { code: 'REQUEST_TIMEOUT', class: 'retry', unclear: false }],
  [409, { code: 'CONFLICT', class: 'permanent', unclear: false }],
  [412, { code: 'FAILED_PRECONDITION', class: 'permanent', unclear: false }],
  [422, { code: 'INVALID_ARGUMENT', class: 'permanent', unclear: false }],
  [425, { code: 'TOO_EARLY', class: 'retry', unclear: false }],
  [429, { code: 'RESOURCE_EXHAUSTED', class: 'slow-down', unclear: false }],
  [499, { code: 'CANCELLED', class: 'retry', unclear: true }],
  [500, { code: 'INTERNAL', class: 'retry', unclear: true }],
  [501, { code: 'UNIMPLEMENTED', class: 'permanent', unclear: false }],
  [502, { code: 'BAD_GATEWAY', class: 'retry', unclear: true }],
  [503, { code: 'UNAVAILABLE', class: 'retry', unclear: true }],
  [504, { code: 'DEADLINE_EXCEEDED', class: 'retry', unclear: true }],
]);

/**
 * The meaning of a status of 400 or more. A status that is not listed takes that of its class (RFC 9110, section 15):
 * 4xx like 400, 5xx like 500, under the code `HTTP_<status>`.
 */
export function statusVerdict(status: number): StatusVerdict {
  const known = verdicts.get(status);
  if (known !== undefined) return known;
  const code = `HTTP_${status}`;
  if (status < 500) return { code, class: 'permanent', unclear: false };
  if (status < 600) return { code, class: 'retry', unclear: true };
  return { code, class: 'permanent', unclear: true };
}
