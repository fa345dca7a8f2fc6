import { STATUS_CODES } from 'node:http';
import { stringifyJson } from '../../text/json.ts';

/**
 * The codes of refusals: those of Protocol Buffers services (google.rpc.Code) that the sandbox uses, with their
 * numbers and the HTTP status that each has in google/rpc/code.proto.
 */
const codes = {
  INVALID_ARGUMENT: { number: 3, status: 400 },
  NOT_FOUND: { number: 5, status: 404 },
  ALREADY_EXISTS: { number: 6, status: 409 },
  PERMISSION_DENIED: { number: 7, status: 403 },
  RESOURCE_EXHAUSTED: { number: 8, status: 429 },
  FAILED_PRECONDITION: { number: 9, status: 400 },
  UNIMPLEMENTED: { number: 12, status: 501 },
  INTERNAL: { number: 13, status: 500 },
  UNAVAILABLE: { number: 14, status: 503 },
  UNAUTHENTICATED: { number: 16, status: 401 },
} as const;

type Code = keyof typeof codes;

export interface Refusal {
  readonly code: Code;
  readonly status: number;
  /** One line for people. */
  readonly message: string;
  /** How long the client should wait, in seconds. */
  readonly retryAfter?: number | undefined;
  readonly headers?: Readonly<Record<string, string>>;
}

/** A refusal with the code's usual HTTP status, unless another is given. */
export function refuse(code: Code, message: string, rest: Partial<Refusal> = {}): Refusal {
  return { code, status: codes[code].status, message, ...rest };
}

/** A body or an object of it that is not as the document has it. */
export interface BadRequest {
  readonly ok: false;
  readonly refusal: Refusal;
}

export function badRequest(message: string, rest?: Partial<Refusal>): BadRequest {
  return { ok: false, refusal: refuse('INVALID_ARGUMENT', message, rest) };
}

/**
 * How error bodies look:
 *
 * - `rpc`: `{"code":5,"message":"…","details":[]}`
 * - `rpc-string`: `{"code":"not_found","message":"…","details":[]}`
 * - `google`: `{"error":{"code":404,"status":"NOT_FOUND","message":"…"}}`, with `details` where there are any
 * - `problem`: `application/problem+json` (RFC 9457)
 * - `text`: the message as plain text
 * - `html`: a page as proxies and web servers make it
 */
export const errorStyles = ['rpc', 'rpc-string', 'google', 'problem', 'text', 'html'] as const;
export type ErrorStyle = (typeof errorStyles)[number];

/** Where a refusal says how long to wait: `Retry-After`, google.rpc.RetryInfo in the body's `details`, or nowhere. */
export const retryAfterStyles = ['header', 'retry-info', 'none'] as const;
export type RetryAfterStyle = (typeof retryAfterStyles)[number];

/** The error styles whose body has room for `retry-info`. */
export const stylesWithDetails: readonly ErrorStyle[] = ['rpc', 'rpc-string', 'google'];

/** The HTTP status with which the rate limit refuses. */
export const limitStatuses = ['429', '503'] as const;

export interface ErrorBody {
  readonly contentType: string;
  readonly text: string;
}

/** The body of a refusal in a style. */
export function errorBody(refusal: Refusal, style: ErrorStyle, retryAfter: RetryAfterStyle): ErrorBody {
  const { code, status, message } = refusal;
  const details =
    retryAfter === 'retry-info' && refusal.retryAfter !== undefined ? [retryInfo(refusal.retryAfter)] : [];
  switch (style) {
    case 'rpc':
      return json({ code: codes[code].number, message, details });
    case 'rpc-string':
      return json({ code: code.toLowerCase(), message, details });
    case 'google':
      return json({ error: { code: status, status: code, message, ...(details.length > 0 && { details }) } });
    case 'problem':
      return json(
        { type: 'about:blank', title: STATUS_CODES[status], status, detail: message },
        'application/problem+json',
      );
    case 'text':
      return { contentType: 'text/plain; charset=utf-8', text: `${message}\n` };
    case 'html':
      return htmlPage(status, message);
  }
}

/** An error page in HTML. */
export function htmlPage(status: number, message = ''): ErrorBody {
  const title = `${status} ${STATUS_CODES[status]}`;
  const paragraph = message === '' ? '' : `<p>${escapeHtml(message)}</p>`;
  return {
    contentType: 'text/html; charset=utf-8',
    text: `<!doctype html><html><head><title>${title}</title></head><body><h1>${title}</h1>${paragraph}</body></html>\n`,
  };
}

function json(body: unknown, contentType = 'application/json'): ErrorBody {
  return { contentType, text: stringifyJson(body) };
}

/** Durations of Protocol Buffers JSON are seconds with up to nine decimals and an `s`. */
function retryInfo(seconds: number) {
  return {
    '@type': 'type.googleapis.com/google.rpc.RetryInfo',
    retryDelay: `${Math.ceil(seconds * 1000) / 1000}s`,
  };
}

function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
}
