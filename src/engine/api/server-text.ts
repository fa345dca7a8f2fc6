import { stripVTControlCharacters } from 'node:util';
import type { TokenMask } from './token/token-mask.ts';

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
