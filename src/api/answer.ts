import { parseJson } from '../json.ts';
import { type Circumstances, classify } from './classify/classify.ts';
import { readErrorBody } from './classify/error-body.ts';
import type { ApiFailure } from './failure.ts';
import { type AnswerHeaders, headerValues } from './headers.ts';
import { serverText } from './server-text.ts';
import type { TokenMask } from './token-mask.ts';

/** A complete HTTP answer. */
export interface HttpAnswer {
  readonly status: number;
  readonly headers: AnswerHeaders;
  readonly body: string;
}

/** What an answer says: parsed JSON with exact numbers, or a failure. */
export type Interpretation =
  | { readonly ok: true; readonly status: number; readonly body: unknown }
  | { readonly ok: false; readonly failure: ApiFailure };

/** Interprets an answer. The success status is not documented (section 4.3), so every 2xx counts. */
export function interpret(answer: HttpAnswer, circumstances: Circumstances): Interpretation {
  const { status } = answer;
  const { mask } = circumstances;
  if (status >= 400 || status < 200) return { ok: false, failure: classify(answer, circumstances) };
  if (status >= 300) return { ok: false, failure: redirectFailure(answer, mask) };
  try {
    return { ok: true, status, body: mask.json(parseJson(answer.body), answer.body) };
  } catch (error) {
    return { ok: false, failure: notJsonFailure(answer, error) };
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

/** The change has probably been made: trying again a little shows it. */
function notJsonFailure({ status, body }: HttpAnswer, error: unknown): ApiFailure {
  const { kind } = readErrorBody(body);
  const reason = error instanceof Error ? error.message : String(error);
  const problems = { empty: 'nothing', html: 'an HTML page', text: reason, json: reason };
  const message = `The server answered ${status}, but not with JSON: ${problems[kind]}`;
  return { class: 'retry-little', code: 'ANSWER_NOT_JSON', message, status, unclear: true };
}
