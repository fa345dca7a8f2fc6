import { stripVTControlCharacters } from 'node:util';
import { type FailureClass, type FailureCode, failureFacts } from '../../domain/codes.ts';
import type { TokenMask } from './token/token-mask.ts';

/** Failures are values; `docs/api-client.md` lists all. */
export interface ApiFailure {
  readonly class: FailureClass;
  /** Stable: a `google.rpc.Code` name (`NOT_FOUND`), or a code of this client (`CONNECTION_LOST`). */
  readonly code: FailureCode;
  /** One line for display. Text of the server is shortened and cleaned; the token never appears. */
  readonly message: string;
  /** Present when the head of an answer arrived. */
  readonly status?: number;
  /** How long to wait from now, as the API asks; at most `maxWaitMs` (see `wait-reader.ts`). */
  readonly waitMs?: number;
  /** What asks for more than a minute: `Retry-After: 7200`. */
  readonly waitBy?: string;
  /** The request may have been processed though no usable answer came. */
  readonly unclear: boolean;
}

export function mayBeOfRouter(status: number | undefined): boolean {
  return status === 404 || status === 405 || status === 501;
}

/** @param more values that differ from those of the code */
export function apiFailure(
  code: FailureCode,
  message: string,
  more: Partial<Omit<ApiFailure, 'code' | 'message'>> = {},
): ApiFailure {
  const { class: failureClass, unclear = false } = failureFacts(code);
  return { class: failureClass, code, message, unclear, ...more };
}

/** Rejection of the typed functions. Contains the failure, and no part of the request. */
export class ApiError extends Error {
  override readonly name = 'ApiError';
  readonly failure: ApiFailure;

  constructor(failure: ApiFailure) {
    super(`${failure.code}: ${failure.message}`);
    this.failure = failure;
  }
}

export const maxServerTextLength = 300;

/** Controls, line and paragraph separators, unpaired surrogates, and marks that reverse the text around them. */
const unprintable = /[\p{Cc}\p{Cs}\p{Zl}\p{Zp}\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]+/gu;

/**
 * Makes text from a server safe for a message: one line, at most 300 code points, without control characters, terminal escapes,
 * bidirectional controls and the token.
 */
export function serverText(text: string, mask?: Pick<TokenMask, 'text'>): string {
  // Masked before it is shortened, so that no half token stays, and again when control characters within a token are removed.
  const clean = stripVTControlCharacters((mask?.text(text) ?? text).slice(0, 20 * maxServerTextLength))
    .replace(unprintable, ' ')
    .replace(/\s+/g, ' ')
    .trim();
  const line = mask?.text(clean) ?? clean;
  const characters = Array.from(line.slice(0, 2 * maxServerTextLength + 1));
  if (characters.length <= maxServerTextLength) return line;
  return `${characters.slice(0, maxServerTextLength - 1).join('')}…`;
}
