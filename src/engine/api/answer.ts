import { shortened } from '../../base/text/printable.ts';
import type { FailureCode } from '../../domain/codes.ts';
import type { ReceivedAnswer } from '../../domain/terms.ts';
import { parseAnswer } from './answer-json.ts';
import { type AnswerContext, classify, readErrorBody } from './classify.ts';
import { requestIdIn } from './error-details.ts';
import { type ApiFailure, apiFailure, serverText } from './failure.ts';
import { headerValues } from './headers.ts';
import type { ContentProblem } from './network/content-encoding.ts';
import type { HttpAnswer } from './network/exchange.ts';
import type { TokenMask } from './token/token-mask.ts';

export type ParsedAnswer =
  | { readonly ok: true; readonly status: number; readonly body: unknown }
  | { readonly ok: false; readonly failure: ApiFailure };

/** The success status is not documented (section 4.3), so every 2xx counts. */
export function interpret(answer: HttpAnswer, context: AnswerContext): ParsedAnswer {
  const { status, body, problem, isPassedOn = false } = answer;
  const { mask } = context;
  if (status >= 400 || status < 200) return { ok: false, failure: errorFailure(answer, context) };
  if (status >= 300) return { ok: false, failure: redirectFailure(answer, mask) };
  // By RFC 9110, section 15.3.5, an answer 204 has no content.
  const hasNoBody = isPassedOn ? problem === undefined : status === 204 && body === '';
  if (hasNoBody) return { ok: true, status, body: null };
  try {
    return { ok: true, status, body: mask.json(parseAnswer(body), body) };
  } catch (error) {
    return { ok: false, failure: unreadableFailure(answer, mask, error as Error) };
  }
}

/** The failure for a status that is neither 2xx nor 3xx. If the body can't be decompressed, only the status counts. */
function errorFailure(answer: HttpAnswer, context: AnswerContext): ApiFailure {
  const { body, problem } = answer;
  if (problem === undefined || readErrorBody(body).kind === 'json') return classify(answer, context);
  const failure = classify({ ...answer, body: '' }, context);
  return { ...failure, message: `${failure.message} (${problemText(problem, context.mask)})` };
}

/** The failure for a 2xx answer that can't be read. The change has probably been made; another attempt shows it. */
function unreadableFailure({ status, body, problem }: HttpAnswer, mask: TokenMask, error: Error): ApiFailure {
  const failure = (code: FailureCode, why: string): ApiFailure =>
    apiFailure(code, `The server answered ${status}, but ${why}`, { status, unclear: true });
  if (problem !== undefined) return failure(undecodedCodes[problem.kind], problemText(problem, mask));
  const { kind } = readErrorBody(body);
  if (kind === 'empty') return failure('ANSWER_NOT_JSON', 'with nothing instead of JSON');
  const what = kind === 'html' ? 'with an HTML page instead of JSON' : `not with JSON (${error.message})`;
  return failure('ANSWER_NOT_JSON', `${what}: ${excerptOf(body, mask)}`);
}

const excerptLength = 200;

/** The beginning of an answer's body, for a message. */
export function excerptOf(body: string, mask?: TokenMask): string {
  return `"${shortened(serverText(body, mask), excerptLength)}"`;
}

const undecodedCodes = {
  unknown: 'ANSWER_ENCODING_UNKNOWN',
  broken: 'ANSWER_ENCODING_BROKEN',
  'too-large': 'ANSWER_TOO_LARGE',
} as const satisfies Record<ContentProblem['kind'], FailureCode>;

const contentProblemTexts = {
  unknown: "has an encoding that this client doesn't support",
  broken: "can't be decompressed",
  'too-large': 'is larger than the client accepts when it is decompressed',
} as const satisfies Record<ContentProblem['kind'], string>;

function problemText({ kind, encoding, detail }: ContentProblem, mask: TokenMask): string {
  return `its body ${contentProblemTexts[kind]} (${serverText(encoding, mask)}: ${detail})`;
}

/** The failure for a redirect, which is not followed: a POST may become a GET, and the token would go to another host. */
function redirectFailure({ status, headers }: HttpAnswer, mask: TokenMask): ApiFailure {
  const [location] = headerValues(headers, 'location');
  const target = location === undefined ? '' : ` to ${serverText(redirectTarget(location), mask)}`;
  const unclear = !redirectsWithoutChange.has(status);
  const message =
    status === 300 || status === 304
      ? `The server answered ${status}, which is no answer to a change: check the base URL (--base-url)`
      : `The server redirects${target} (${status}), and redirects are not followed: fix the base URL (--base-url)`;
  return apiFailure('HTTP_REDIRECT', message, { status, unclear });
}

/** Statuses of redirects that made no change (RFC 9110, 15.4). A 303, and often a 302, follows a change; others say nothing about it. */
const redirectsWithoutChange: ReadonlySet<number> = new Set([301, 307, 308]);

function redirectTarget(location: string): string {
  return URL.canParse(location) ? new URL(location).origin : 'another path';
}

const maxBodyLength = 16_384;
const maxHeaderLength = 1_000;

/** Headers that are saved: about the answer, its way and limits, but none that grant access, such as cookies. */
const keptHeaders =
  /^(content-(type|length|encoding)|date|age|via|server|location|etag|(.*-)?retry-after(-ms)?|www-authenticate|grpc-(status|message)|.*rate-?limit.*|(x-)?(request|correlation|trace)-?id|x-amzn-(requestid|trace-id)|x-cloud-trace-context|traceparent)$/;

/** The part of an answer that is saved, without the token. */
export function receivedAnswer({ status, headers, body }: HttpAnswer, mask: TokenMask): ReceivedAnswer {
  const kept = Object.keys(headers).filter((name) => keptHeaders.test(name));
  const text = withoutToken(body, mask);
  return {
    status,
    headers: Object.fromEntries(
      kept.map((name) => [
        name,
        withoutToken(headerValues(headers, name).join(', '), mask).slice(0, maxHeaderLength),
      ]),
    ),
    body: text.slice(0, maxBodyLength),
    ...(text.length > maxBodyLength && { cut: true }),
  };
}

/** The headers that may have the id of a request, likeliest first. */
const requestIdHeaders = [
  'x-request-id',
  'request-id',
  'x-correlation-id',
  'correlation-id',
  'x-trace-id',
  'trace-id',
  'x-amzn-requestid',
  'x-amzn-trace-id',
  'x-cloud-trace-context',
];

/** Ids of requests are used if they have visible ASCII characters only, so that users can search for them. */
const usableRequestId = /^[!-~]{1,200}$/;

/** The id of a request, from a header or from the `RequestInfo` of an error. */
export function requestIdOf({ status, headers, body }: HttpAnswer, mask: TokenMask): string | undefined {
  for (const name of requestIdHeaders) {
    const [value] = headerValues(headers, name);
    if (value !== undefined && usableRequestId.test(value)) return mask.text(value);
  }
  if (status < 400 || !body.includes('RequestInfo')) return undefined;
  const id = requestIdIn(readErrorBody(body).details);
  return usableRequestId.test(id) ? mask.text(id) : undefined;
}

/** Masks the token, also where `\u` escapes of JSON hide a part of it. */
function withoutToken(text: string, mask: TokenMask): string {
  const unescaped = text.replace(/\\u00([2-7][0-9a-f])/gi, (_escape, code: string) =>
    String.fromCharCode(Number.parseInt(code, 16)),
  );
  const masked = mask.text(unescaped);
  return masked === unescaped ? mask.text(text) : masked;
}
