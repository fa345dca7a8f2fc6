import { stripVTControlCharacters } from 'node:util';
import type { FailureClass } from '../../domain/code-table.ts';
import { type FailureCode, failureFacts } from '../../domain/codes.ts';
import type { TokenMask } from './token/token-mask.ts';

/** Why a call failed. Failures are values; `docs/api-client.md` lists all. */
export interface ApiFailure {
  readonly class: FailureClass;
  /** A stable code: the name of a `google.rpc.Code` (`NOT_FOUND`), or a code of this client (`CONNECTION_LOST`). */
  readonly code: FailureCode;
  /** The message, in one line. Text of the server is shortened and cleaned; the token never appears. */
  readonly message: string;
  /** The HTTP status. Present when the head of an answer arrived. */
  readonly status?: number;
  /** How long to wait from now, as the API asks; at most `maxWaitMs` (see `wait-reader.ts`). */
  readonly waitMs?: number;
  /** The header or field that asks for more than a minute: `Retry-After: 7200`. */
  readonly waitBy?: string;
  /** Whether the request may have been processed though no usable answer came. */
  readonly unclear: boolean;
}

export function mayBeOfRouter(status: number | undefined): boolean {
  return status === 404 || status === 405 || status === 501;
}

/** The failure with a code. @param more values that differ from those of the code */
export function apiFailure(
  code: FailureCode,
  message: string,
  more: Partial<Omit<ApiFailure, 'code' | 'message'>> = {},
): ApiFailure {
  const { class: failureClass, unclear = false } = failureFacts(code);
  return { class: failureClass, code, message, unclear, ...more };
}

/** The error with which the typed functions reject. It contains the failure, and no part of the request. */
export class ApiError extends Error {
  override readonly name = 'ApiError';
  readonly failure: ApiFailure;

  constructor(failure: ApiFailure) {
    super(`${failure.code}: ${failure.message}`);
    this.failure = failure;
  }
}

export const maxServerTextLength = 300;

/** Characters that a message must not have: controls, line and paragraph separators, lone surrogates, and marks that reverse text. */
const unprintable = /[\p{Cc}\p{Cs}\p{Zl}\p{Zp}\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]+/gu;

/**
 * Makes text from a server safe for a message: one line, at most 300 code points, without control characters, terminal escapes,
 * bidirectional controls and the token.
 */
export function serverText(text: string, mask?: Pick<TokenMask, 'text'>): string {
  // The token is masked before the text is cut, which might leave half of it, and again when no control characters divide it.
  const clean = stripVTControlCharacters((mask?.text(text) ?? text).slice(0, 20 * maxServerTextLength))
    .replace(unprintable, ' ')
    .replace(/\s+/g, ' ')
    .trim();
  const line = mask?.text(clean) ?? clean;
  const characters = Array.from(line.slice(0, 2 * maxServerTextLength + 1));
  if (characters.length <= maxServerTextLength) return line;
  return `${characters.slice(0, maxServerTextLength - 1).join('')}…`;
}
