import type { FailureCode } from '../../codes.ts';
import type { FailureClass } from '../failure.ts';

/** What an error means for a request that changes something. */
export interface Verdict {
  readonly class: FailureClass;
  /** Whether the request may have been processed in spite of the error. */
  readonly unclear: boolean;
}

/**
 * The canonical error codes (`google/rpc/code.proto`) by number, from 1, each with what it means here.
 *
 * Unclear are the codes that a server or a gateway gives when it lost sight of the request. ABORTED says that the
 * change was rolled back, RESOURCE_EXHAUSTED that it was refused before it began.
 */
const verdictsByCode = {
  CANCELLED: { class: 'retry', unclear: true },
  UNKNOWN: { class: 'retry', unclear: true },
  INVALID_ARGUMENT: { class: 'permanent', unclear: false },
  DEADLINE_EXCEEDED: { class: 'retry', unclear: true },
  NOT_FOUND: { class: 'permanent', unclear: false },
  ALREADY_EXISTS: { class: 'permanent', unclear: false },
  PERMISSION_DENIED: { class: 'halt-early', unclear: false },
  RESOURCE_EXHAUSTED: { class: 'retry', unclear: false },
  FAILED_PRECONDITION: { class: 'permanent', unclear: false },
  ABORTED: { class: 'retry', unclear: false },
  OUT_OF_RANGE: { class: 'permanent', unclear: false },
  UNIMPLEMENTED: { class: 'permanent', unclear: false },
  INTERNAL: { class: 'retry', unclear: true },
  UNAVAILABLE: { class: 'retry', unclear: true },
  DATA_LOSS: { class: 'permanent', unclear: true },
  UNAUTHENTICATED: { class: 'halt', unclear: false },
} as const satisfies Record<string, Verdict>;

export type RpcCode = keyof typeof verdictsByCode;

const codes = Object.keys(verdictsByCode) as readonly RpcCode[];

/** `NOT_FOUND`, `not_found`, `NotFound` and `not-found` are one; so are both spellings of CANCELLED. */
const byLetters = new Map<string, RpcCode>([
  ...codes.map((code) => [code.replaceAll('_', ''), code] as const),
  ['CANCELED', 'CANCELLED'],
]);

/** The canonical code that a body's `code` or `status` stands for: a number from 1 to 16, also as text, or a name. */
export function rpcCode(value: unknown): RpcCode | undefined {
  if (typeof value === 'number') return codes[value - 1];
  if (typeof value !== 'string' || value.length > 40) return undefined;
  if (/^\d{1,2}$/.test(value)) return codes[Number(value) - 1];
  return byLetters.get(value.toUpperCase().replace(/[^A-Z]/g, ''));
}

/** What the code means. */
export function rpcVerdict(code: RpcCode): Verdict {
  return verdictsByCode[code];
}

/** What an HTTP status means when the body has no canonical code. */
export interface StatusVerdict extends Verdict {
  readonly code: FailureCode;
}

const verdictsByStatus = new Map<number, StatusVerdict>([
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
  const known = verdictsByStatus.get(status);
  if (known !== undefined) return known;
  const code = `HTTP_${status}` as const;
  if (status < 500) return { code, class: 'permanent', unclear: false };
  if (status < 600) return { code, class: 'retry', unclear: true };
  return { code, class: 'permanent', unclear: true };
}

/** Answers of 2xx that are not those to the request: the API has done something else, and would again. */
const wrongAnswers = ['ANSWER_INCOMPLETE', 'ANSWER_ID_MISMATCH', 'ANSWER_STILL_DELETED'];

/** Codes of refusals that are about the request itself. */
const refusals: ReadonlySet<string> = new Set([
  ...codes.filter((code) => verdictsByCode[code].class === 'permanent'),
  ...[...verdictsByStatus.values()]
    .filter((verdict) => verdict.class === 'permanent')
    .map(({ code }) => code),
  ...wrongAnswers,
]);

/** Whether the same call may succeed when it is made again, after one that has failed with this code. */
export function mayPassAgain(code: string): boolean {
  const status = /^HTTP_(\d{3})$/.exec(code)?.[1];
  if (status !== undefined && Number(status) >= 400)
    return statusVerdict(Number(status)).class !== 'permanent';
  return !refusals.has(code);
}
