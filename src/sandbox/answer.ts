import { STATUS_CODES } from 'node:http';
import type { ErrorDetail } from './error-details.ts';
import type { Message } from './messages.ts';

export interface HttpAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  /** In chunks where it may be too large for one text. */
  readonly body: string | Iterable<string>;
}

/** Refusals that the sandbox uses, with the numbers (google.rpc.Code) and HTTP statuses of google/rpc/code.proto. */
export const codes = {
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

/** The service's decision, of which `shapes.ts` makes an HTTP answer. */
export type Decision = Success | EntryList | Refusal;

export interface Success {
  /** As in the interface document. */
  readonly result: Readonly<Record<string, unknown>>;
  readonly type: Message;
}

/** An answer of one list with any number of entries, which are generated while they are sent. */
export interface EntryList {
  /** The name of the list, without an underscore, so that it is the same in each shape. */
  readonly name: string;
  readonly entries: Iterable<Success['result']>;
  /** Of an entry. */
  readonly type: Message;
}

export interface Refusal {
  readonly code: keyof typeof codes;
  readonly message: string;
  /** Default: the code's usual HTTP status. */
  readonly status?: number;
  readonly headers?: HttpAnswer['headers'];
  readonly details?: readonly ErrorDetail[];
  /** Sends only status and headers. */
  readonly isBare?: boolean;
}

export function refuse(
  code: Refusal['code'],
  message: string,
  rest: Omit<Refusal, 'code' | 'message'> = {},
): Refusal {
  return { code, message, ...rest };
}

export function retryAfter(seconds: number): HttpAnswer['headers'] {
  return { 'retry-after': String(Math.max(1, Math.ceil(seconds - floatError))) };
}

/** Keeps the error of floating point from adding a second. */
const floatError = 1e-6;

/** Joins texts, because sending each of them would be slow. */
export function* inChunks(texts: Iterable<string>): Generator<string> {
  let chunk = '';
  for (const text of texts) {
    chunk += text;
    if (chunk.length < 65_536) continue;
    yield chunk;
    chunk = '';
  }
  if (chunk !== '') yield chunk;
}

/** The answer of a load balancer that knows no service for a path. */
export const defaultBackend: HttpAnswer = {
  status: 404,
  headers: { 'content-type': 'text/plain; charset=utf-8' },
  body: 'default backend - 404',
};

/** The answer of a proxy in front of the service. */
export function gatewayPage(status: number): HttpAnswer {
  const title = `${status} ${STATUS_CODES[status]}`;
  const body = `<!doctype html><html><head><title>${title}</title></head><body><h1>${title}</h1></body></html>\n`;
  return { status, headers: { 'content-type': 'text/html; charset=utf-8' }, body };
}
