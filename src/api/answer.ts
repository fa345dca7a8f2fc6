import { parseJson } from '../text/json.ts';
import { type AnswerContext, classify } from './classify/classify.ts';
import { readErrorBody } from './classify/error-body.ts';
import type { ApiFailure } from './failure.ts';
import { type AnswerHeaders, headerValues } from './headers.ts';
import type { ContentProblem } from './network/content-encoding.ts';
import { serverText, type TokenMask } from './server-text.ts';

/** A complete HTTP answer. */
export interface HttpAnswer {
  readonly status: number;
  readonly headers: AnswerHeaders;
  readonly body: string;
  /** Why the body is not decompressed, when it should have been. */
  readonly problem?: ContentProblem;
}

/** What an answer says: parsed JSON with exact numbers, or a failure. */
export type ParsedAnswer =
  | { readonly ok: true; readonly status: number; readonly body: unknown }
  | { readonly ok: false; readonly failure: ApiFailure };

/** Interprets an answer. The success status is not documented (section 4.3), so every 2xx counts. */
export function interpret(answer: HttpAnswer, circumstances: AnswerContext): ParsedAnswer {
  const { status } = answer;
  const { mask } = circumstances;
  if (status >= 400 || status < 200) return { ok: false, failure: errorFailure(answer, circumstances) };
  if (status >= 300) return { ok: false, failure: redirectFailure(answer, mask) };
  // RFC 9110, section 15.3.5: it has nothing to say.
  if (status === 204 && answer.body === '') return { ok: true, status, body: null };
  try {
    return { ok: true, status, body: mask.json(parseJson(answer.body), answer.body) };
  } catch (error) {
    const { problem } = answer;
    const failure =
      problem === undefined ? notJsonFailure(answer, error) : undecodedFailure(status, problem, mask);
    return { ok: false, failure };
  }
}

/** What an error answer means; its status says enough when its body can't be decompressed. */
function errorFailure(answer: HttpAnswer, circumstances: AnswerContext): ApiFailure {
  const { body, problem } = answer;
  if (problem === undefined || readErrorBody(body).kind === 'json') return classify(answer, circumstances);
  const failure = classify({ ...answer, body: '' }, circumstances);
  return { ...failure, message: `${failure.message} (${problemText(problem, circumstances.mask)})` };
}

/** The change has probably been made, as after any other 2xx. */
function undecodedFailure(status: number, problem: ContentProblem, mask: TokenMask): ApiFailure {
  const code = undecodedCodes[problem.kind];
  const message = `The server answered ${status}, but ${problemText(problem, mask)}`;
  return { class: 'retry', code, message, status, unclear: true };
}

const undecodedCodes = {
  unknown: 'ANSWER_ENCODING_UNKNOWN',
  broken: 'ANSWER_ENCODING_BROKEN',
  'too-large': 'ANSWER_TOO_LARGE',
} as const satisfies Record<ContentProblem['kind'], string>;

function problemText({ kind, encoding, detail }: ContentProblem, mask: TokenMask): string {
  const name = serverText(encoding, mask);
  switch (kind) {
    case 'unknown':
      return `its body is encoded in a way that this client doesn't know (${name}: ${detail})`;
    case 'broken':
      return `its body can't be decompressed (${name}: ${detail})`;
    case 'too-large':
      return `its body is larger than the client accepts when it is decompressed (${name}: ${detail})`;
  }
}

/** Redirects are not followed: a POST may become a GET on the way, and the token would go to another host. */
function redirectFailure({ status, headers }: HttpAnswer, mask: TokenMask): ApiFailure {
  const location = headerValues(headers, 'location')[0];
  const target = location === undefined ? '' : ` to ${serverText(redirectTarget(location), mask)}`;
  const message = `The server redirects${target} (${status}), and redirects are not followed: fix the base URL (--base-url)`;
  return { class: 'halt-early', code: 'HTTP_REDIRECT', message, status, unclear: false };
}

function redirectTarget(location: string): string {
  return URL.canParse(location) ? new URL(location).origin : 'another path';
}

/** The change may have been made: trying again shows it. */
function notJsonFailure({ status, body }: HttpAnswer, error: unknown): ApiFailure {
  const { kind } = readErrorBody(body);
  const reason = error instanceof Error ? error.message : String(error);
  const problems = { empty: 'nothing', html: 'an HTML page', text: reason, json: reason };
  const message = `The server answered ${status}, but not with JSON: ${problems[kind]}`;
  return { class: 'retry', code: 'ANSWER_NOT_JSON', message, status, unclear: true };
}
