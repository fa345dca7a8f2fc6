import { STATUS_CODES } from 'node:http';
import { stringifyJson } from '../base/text/json.ts';

/** An answer as it is sent. */
export interface HttpAnswer {
  /** The code of a refusal; absent in other answers. */
  readonly code?: Code;
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | Buffer;
}

/**
 * The codes of refusals: those of Protocol Buffers services (google.rpc.Code) that the sandbox uses, with their
 * numbers and the HTTP status that each has in google/rpc/code.proto.
 */
const codes = {
  INVALID_ARGUMENT: { number: 3, status: 400 },
  NOT_FOUND: { number: 5, status: 404 },
  PERMISSION_DENIED: { number: 7, status: 403 },
  RESOURCE_EXHAUSTED: { number: 8, status: 429 },
  FAILED_PRECONDITION: { number: 9, status: 400 },
  UNIMPLEMENTED: { number: 12, status: 501 },
  INTERNAL: { number: 13, status: 500 },
  UNAVAILABLE: { number: 14, status: 503 },
  UNAUTHENTICATED: { number: 16, status: 401 },
} as const;

type Code = keyof typeof codes;

export type Refusal = HttpAnswer & { readonly code: Code };

/**
 * A refusal: `{"code":5,"message":"…","details":[]}`, with the code's usual HTTP status unless `rest` has another.
 *
 * @param message one line for people
 */
export function refuse(code: Code, message: string, rest: Partial<Omit<Refusal, 'body'>> = {}): Refusal {
  const { number, status } = codes[code];
  const headers = { ...jsonHeaders, ...rest.headers };
  return { code, status, ...rest, headers, body: stringifyJson({ code: number, message, details: [] }) };
}

/** `Retry-After` for a wait in seconds. */
export function retryAfter(seconds: number): HttpAnswer['headers'] {
  return { 'retry-after': String(Math.max(1, Math.ceil(seconds - rounding))) };
}

/** The error of floating point in a number of seconds, which must not round up to one second more. */
const rounding = 1e-6;

/** An answer with status 200. The interface document does not show the success status (section 4.3). */
export function done(body: object): HttpAnswer {
  return { status: 200, headers: jsonHeaders, body: stringifyJson(body) };
}

/** The page of a proxy in front of the service. */
export function gatewayPage(status: number): HttpAnswer {
  const title = `${status} ${STATUS_CODES[status]}`;
  const body = `<!doctype html><html><head><title>${title}</title></head><body><h1>${title}</h1></body></html>\n`;
  return { status, headers: { 'content-type': 'text/html; charset=utf-8' }, body };
}

const jsonHeaders = { 'content-type': 'application/json' };
