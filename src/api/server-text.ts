import { stripVTControlCharacters } from 'node:util';

/** Longest text of the server that is kept in a message, in code points. */
export const maxServerTextLength = 300;

/** Controls, line and paragraph separators, unpaired surrogates, and marks that reverse the text around them. */
const unprintable = /[\p{Cc}\p{Cs}\p{Zl}\p{Zp}\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]+/gu;

/**
 * Makes text that a server sent fit for a message: one line, at most 300 code points, without control characters,
 * terminal escape sequences and bidirectional controls.
 *
 * @param secret removed wherever it occurs: a server may quote the token that it refuses.
 */
export function serverText(text: string, secret?: string): string {
  const clean = stripVTControlCharacters(text.slice(0, 20 * maxServerTextLength))
    .replace(unprintable, ' ')
    .replace(/\s+/g, ' ')
    .trim();
  const line = secret ? clean.replaceAll(secret, '[token]') : clean;
  const characters = Array.from(line.slice(0, 2 * maxServerTextLength + 1));
  if (characters.length <= maxServerTextLength) return line;
  return `${characters.slice(0, maxServerTextLength - 1).join('')}…`;
}
