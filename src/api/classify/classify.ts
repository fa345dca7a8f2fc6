import type { FailureClass } from '../../codes.ts';
import type { ApiFailure } from '../failure.ts';
import type { AnswerHeaders } from '../headers.ts';
import { serverText, type TokenMask } from '../server-text.ts';
import { type ErrorBody, readErrorBody } from './error-body.ts';
import { statusVerdict, verdictOn } from './verdict.ts';
import { waitingTime } from './waiting-time.ts';

/** An error answer: status 400 or more. */
export interface ErrorAnswer {
  readonly status: number;
  readonly headers: AnswerHeaders;
  readonly body: string;
}

/** What is known beside the answer. */
export interface AnswerContext {
  /** Milliseconds since 1970. */
  readonly now: number;
  /** Hides what must never appear in a message, nor in anything else that an answer leads to. */
  readonly mask: TokenMask;
}

/**
 * What an error answer means. The canonical code in the body counts first, then the HTTP status; but 429 always means
 * "slow down" and 401 always "the token is refused", whatever the body says.
 */
export function classify(answer: ErrorAnswer, { now, mask }: AnswerContext): ApiFailure {
  const { status } = answer;
  const body = readErrorBody(answer.body);
  const verdict =
    body.code === undefined || status === 429 || status === 401
      ? statusVerdict(status)
      : verdictOn(body.code);
  const waitMs = waitable.has(verdict.class) ? waitingTime(answer.headers, body.json, now) : undefined;
  const failure = { ...verdict, status, message: errorMessage(status, verdict.class, body, mask) };
  if (status === 404 && body.kind !== 'json') return { ...failure, class: 'halt-early' };
  if (waitMs === undefined) return failure;
  const throttled = verdict.class === 'slow-down' || status === 503 || throttlingCodes.has(verdict.code);
  // Whoever says when to come back has refused the request on purpose.
  return throttled ? { ...failure, class: 'slow-down', waitMs, unclear: false } : { ...failure, waitMs };
}

const waitable: ReadonlySet<FailureClass> = new Set(['slow-down', 'retry']);
const throttlingCodes: ReadonlySet<string> = new Set(['RESOURCE_EXHAUSTED', 'UNAVAILABLE']);

function errorMessage(status: number, failureClass: FailureClass, body: ErrorBody, mask: TokenMask): string {
  const said = serverText(body.message, mask);
  if (status === 404 && body.kind !== 'json') {
    return `The server answered 404 with ${kindName(body, said)} instead of JSON: check the base URL`;
  }
  if (failureClass === 'halt') return `The API refuses the token${said === '' ? '' : `: ${said}`}`;
  if (body.kind === 'html') return `The server answered ${status} with ${kindName(body, said)}`;
  return said === '' ? `The server answered ${status} without saying why` : said;
}

function kindName({ kind }: ErrorBody, said: string): string {
  if (kind === 'empty') return 'nothing';
  const name = kind === 'html' ? 'an HTML page' : 'text';
  return said === '' ? name : `${name} ("${said}")`;
}
