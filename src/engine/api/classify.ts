import { isJsonObject } from '../../base/text/json.ts';
import { canonicalCodes, type FailureCode, failureFacts } from '../../domain/codes.ts';
import { parseAnswer } from './answer-json.ts';
import { detailTexts, type ErrorDetail, errorDetails, reasonIn } from './error-details.ts';
import { type ApiFailure, apiFailure, mayBeOfRouter, serverText } from './failure.ts';
import { headerValues } from './headers.ts';
import type { HttpAnswer } from './network/exchange.ts';
import type { TokenMask } from './token/token-mask.ts';
import type { IgnoredWaits } from './wait-reader.ts';
import { isThrottled, waitingTime } from './waiting-time.ts';

export interface AnswerContext {
  /** The time of the answer, milliseconds since 1970. */
  readonly now: number;
  readonly mask: TokenMask;
  readonly ignored?: IgnoredWaits;
}

/**
 * The failure for a status of 400 or more. The canonical code in the body counts before the status, except for 429 and 401. The code of a
 * router is UNIMPLEMENTED: its NOT_FOUND is about the path, not about a row.
 */
export function classify(answer: HttpAnswer, { now, mask, ignored }: AnswerContext): ApiFailure {
  const { status, headers } = answer;
  const body = readErrorBody(answer.body);
  const isRefusal = status === 429 || isRefusalByOtherStatus(answer, now);
  const ofRouter = isOfRouter(status, body);
  const isFixed = body.code === undefined || status === 401;
  const code = isRefusal
    ? 'RESOURCE_EXHAUSTED'
    : ofRouter
      ? 'UNIMPLEMENTED'
      : isFixed
        ? codeOfStatus(status)
        : body.code;
  const usualClass = isRefusal ? 'slow-down' : failureFacts(code).class;
  const isPathWrong = ofRouter || (status === 404 && body.kind !== 'json');
  const failure = apiFailure(
    code,
    errorMessage(status, { isPathWrong, isHalt: usualClass === 'halt' }, body, mask),
    {
      class: isPathWrong ? 'halt-early' : usualClass,
      status,
    },
  );
  if (usualClass !== 'slow-down' && usualClass !== 'retry') return failure;
  const wait = waitingTime(headers, body.details, now, ignored);
  if (wait === undefined) return failure;
  const isAskedToSlowDown = usualClass === 'slow-down' || status === 503 || throttlingCodes.has(code);
  return {
    ...failure,
    waitMs: wait.ms,
    ...(wait.askedBy !== undefined && { waitBy: wait.askedBy }),
    // A server that names a waiting time has certainly refused the call.
    ...(isAskedToSlowDown && { class: 'slow-down', unclear: false }),
  };
}

/** Whether an API refuses the pace with another status than 429: GitHub with 403 and a time, AWS with 400 and an exception's name. */
function isRefusalByOtherStatus({ status, headers }: HttpAnswer, now: number): boolean {
  if (status === 403) return isThrottled(headers, now);
  return (
    status === 400 && headerValues(headers, 'x-amzn-errortype').some((name) => throttlingName.test(name))
  );
}

const throttlingName = /throttl|toomanyrequests|requestlimitexceeded|throughputexceeded|slowdown/i;

/** Whether a router refuses the path or method. A 404 without JSON may come from a service that misses an entry, so it does not count. */
function isOfRouter(status: number, { kind, message, json = {}, details }: ErrorBody): boolean {
  if (!mayBeOfRouter(status)) return false;
  if (kind !== 'json') return status !== 404;
  if (details.length > 0 || !routerWords.test(message)) return false;
  return status !== 404 || !/^not found$/i.test(message) || hasOnlyGatewayMembers(json);
}

/** The words of a gateway's router, which say no more than the status. */
const routerWords =
  /^(?:not found|method not allowed|not implemented|no route matched with those values|the current request is not defined by this api\.?|(?:cannot|route) [A-Z]+[ :]\/.*)$/i;

/** Whether an error has only the members of a gateway's "Not Found". With more members, a service may mean a missing entry. */
function hasOnlyGatewayMembers(json: Readonly<Record<string, unknown>>): boolean {
  return json['code'] === 5 && Object.keys(json).every((name) => gatewayMembers.has(name));
}

const gatewayMembers: ReadonlySet<string> = new Set(['code', 'message', 'details', 'error']);

const throttlingCodes: ReadonlySet<FailureCode> = new Set(['RESOURCE_EXHAUSTED', 'UNAVAILABLE'] as const);

function errorMessage(
  status: number,
  { isPathWrong, isHalt }: { readonly isPathWrong: boolean; readonly isHalt: boolean },
  body: ErrorBody,
  mask: TokenMask,
): string {
  const serverMessage = serverText(withDetails(body), mask);
  if (isPathWrong) {
    const what =
      body.kind === 'json' ? `"${serverMessage}"` : `${kindName(body, serverMessage)} instead of JSON`;
    return `The server answered ${status} with ${what}: check the base URL (--base-url) and its path prefix`;
  }
  if (isHalt) return `The API rejected the token${serverMessage === '' ? '' : `: ${serverMessage}`}`;
  if (body.kind === 'html') return `The server answered ${status} with ${kindName(body, serverMessage)}`;
  return serverMessage === '' ? `The server answered ${status} without saying why` : serverMessage;
}

/** A message with its details, the reason first, so that it is never cut: `EVALUATION_NOT_DELETED: wrong state (request: r-1)`. */
function withDetails({ message, details }: ErrorBody): string {
  const reason = reasonIn(details);
  const isSaid = message.includes(reason) || rpcCode(reason) !== undefined;
  const said = [isSaid ? '' : reason, message].filter(Boolean).join(': ');
  const more = detailTexts(details, said).join('; ');
  if (more === '') return said;
  return said === '' ? more : `${said} (${more})`;
}

function kindName({ kind }: ErrorBody, serverMessage: string): string {
  if (kind === 'empty') return 'nothing';
  const name = kind === 'html' ? 'an HTML page' : 'text';
  return serverMessage === '' ? name : `${name} ("${serverMessage}")`;
}

function codeOfStatus(status: number): FailureCode {
  return codesByStatus.get(status) ?? `HTTP_${status}`;
}

const codesByStatus = new Map<number, FailureCode>([
  [400, 'INVALID_ARGUMENT'],
  [401, 'UNAUTHENTICATED'],
  [403, 'PERMISSION_DENIED'],
  [404, 'NOT_FOUND'],
  [405, 'UNIMPLEMENTED'],
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

type RpcCode = (typeof canonicalCodes)[number];

/** Canonical codes by their letters: `NOT_FOUND`, `not_found`, `NotFound` and `not-found` are the same code. */
const codesByLetters = new Map<string, RpcCode>([
  ...canonicalCodes.map((code) => [code.replaceAll('_', ''), code] as const),
  ['CANCELED', 'CANCELLED'],
]);

/** The canonical code for the `code` or `status` of a body: a number from 1 to 16, also as text, or a name. */
export function rpcCode(value: unknown): RpcCode | undefined {
  if (typeof value === 'number') return canonicalCodes[value - 1];
  if (typeof value !== 'string' || value.length > 40) return undefined;
  if (/^\d{1,2}$/.test(value)) return canonicalCodes[Number(value) - 1];
  return codesByLetters.get(value.toUpperCase().replace(/[^A-Z]/g, ''));
}

interface ErrorBody {
  /** What the body is. `json` means a JSON object; other JSON values count as `text`. */
  readonly kind: 'json' | 'html' | 'text' | 'empty';
  readonly code?: RpcCode | undefined;
  /** What the body says for people. May be empty. */
  readonly message: string;
  readonly json?: Readonly<Record<string, unknown>>;
  readonly details: readonly ErrorDetail[];
}

/**
 * Reads the body of an error, in one of these shapes:
 *
 * - `{"code":5,"message":"…","details":[…]}` of a gateway and `{"code":"not_found","message":"…","details":[…]}` of Connect
 * - `{"error":"…","code":5,"message":"…","details":[…]}` and `{"error":"…","code":5}` of older gateways
 * - `{"error":{"code":404,"status":"NOT_FOUND","message":"…","details":[…]}}`
 * - `application/problem+json`: `{"type":"…","title":"…","status":404,"detail":"…"}` (RFC 9457)
 * - `{"error":"invalid_token","error_description":"…"}` (RFC 6749, section 5.2)
 * - `{"errors":[{"message":"…"}]}` of GraphQL and `{"errors":[{"code":"…","title":"…","detail":"…"}]}` of JSON:API: the first error
 * - plain text, an HTML page, nothing
 */
export function readErrorBody(text: string): ErrorBody {
  const trimmed = text.trim();
  if (trimmed === '') return { kind: 'empty', message: '', details: [] };
  if (trimmed.startsWith('<')) return { kind: 'html', message: htmlTitle(trimmed), details: [] };
  const json = trimmed.startsWith('{') ? parseObject(trimmed) : undefined;
  if (json === undefined) return { kind: 'text', message: trimmed, details: [] };
  const error = isJsonObject(json['error']) ? json['error'] : {};
  // The `status` of a problem document is the HTTP status, not a canonical code.
  const statuses = [json['status'], error['status']].filter((status) => typeof status === 'string');
  const codes = [json['code'], ...statuses, error['code'], json['error']];
  const code = codes.map(rpcCode).find((candidate) => candidate !== undefined);
  // A code of the service's own, such as `EVALUATION_NOT_DELETED`, is often the only precise part.
  const name =
    code === undefined
      ? firstText([json['code'], error['status'], error['code'], json['error']], /^[A-Za-z][\w.-]*$/)
      : '';
  const messages = [json['message'], error['message'], json['detail'], json['title']];
  const said = [...messages, json['error_description'], json['error'], ...firstOfErrors(json['errors'])];
  const message = firstText(said, /\S/);
  const isNamed = name === '' || name === message;
  return {
    kind: 'json',
    code,
    json,
    details: errorDetails(json),
    message: isNamed ? message : [name, message].filter(Boolean).join(': '),
  };
}

/** The first error of a list, without its code: in JSON:API the code is the service's own, even if it looks like a canonical one. */
function firstOfErrors(errors: unknown): readonly unknown[] {
  const [first] = Array.isArray(errors) ? (errors as readonly unknown[]) : [];
  if (!isJsonObject(first)) return [first];
  return [first['message'], first['detail'], first['title']];
}

function firstText(values: readonly unknown[], pattern: RegExp): string {
  return values.find((value): value is string => typeof value === 'string' && pattern.test(value)) ?? '';
}

function htmlTitle(page: string): string {
  return /<title[^>]*>([^<]{0,200})/i.exec(page.slice(0, 10_000))?.[1]?.trim() ?? '';
}

function parseObject(text: string): Readonly<Record<string, unknown>> | undefined {
  try {
    const value = parseAnswer(text);
    return isJsonObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}
