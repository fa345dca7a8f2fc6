import type { FailureClass } from '../../codes.ts';
import { canonicalCodes, codeFacts, type FailureCode } from '../../codes.ts';

/** What an error means for a request that changes something. */
export interface Verdict {
  readonly code: FailureCode;
  readonly class: FailureClass;
  /** Whether the request may have been processed in spite of the error. */
  readonly unclear: boolean;
}

export type RpcCode = (typeof canonicalCodes)[number];

/** `NOT_FOUND`, `not_found`, `NotFound` and `not-found` are one; so are both spellings of CANCELLED. */
const byLetters = new Map<string, RpcCode>([
  ...canonicalCodes.map((code) => [code.replaceAll('_', ''), code] as const),
  ['CANCELED', 'CANCELLED'],
]);

/** The canonical code that a body's `code` or `status` stands for: a number from 1 to 16, also as text, or a name. */
export function rpcCode(value: unknown): RpcCode | undefined {
  if (typeof value === 'number') return canonicalCodes[value - 1];
  if (typeof value !== 'string' || value.length > 40) return undefined;
  if (/^\d{1,2}$/.test(value)) return canonicalCodes[Number(value) - 1];
  return byLetters.get(value.toUpperCase().replace(/[^A-Z]/g, ''));
}

/** What the code of an answer means. */
export function verdictOn(code: FailureCode): Verdict {
  const { class: kind = 'permanent', unclear = false } = codeFacts(code);
  return { code, class: kind, unclear };
}

const codesByStatus = new Map<number, FailureCode>([
  [400, 'INVALID_ARGUMENT'],
  [401, 'UNAUTHENTICATED'],
  [403, 'PERMISSION_DENIED'],
  [404, 'NOT_FOUND'],
  [408, 'REQUEST_TIMEOUT'],
  [409, 'CONFLICT'],
  [412, 'FAILED_PRECONDITION'],
  [422, 'INVALID_ARGUMENT'],
  [425, 'TOO_EARLY'],
  [429, 'RESOURCE_EXHAUSTED'],
  [499, 'CANCELLED'],
  [500, 'INTERNAL'],
  [501, 'UNIMPLEMENTED'],
  [502, 'BAD_GATEWAY'],
  [503, 'UNAVAILABLE'],
  [504, 'DEADLINE_EXCEEDED'],
]);

/** What an HTTP status of 400 or more means when the body has no canonical code. One that is not listed is `HTTP_<status>`. */
export function statusVerdict(status: number): Verdict {
  const verdict = verdictOn(codesByStatus.get(status) ?? `HTTP_${status}`);
  return status === 429 ? { ...verdict, class: 'slow-down' } : verdict;
}
