import { stripVTControlCharacters } from 'node:util';
import { isLosslessNumber } from '../../base/text/json.ts';

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

/** Hides the token in text for reports, journals, datastores and logs. */
export interface TokenMask {
  readonly text: (text: string) => string;
  /** Changes all text of parsed JSON in place. `source` is its JSON text. */
  readonly json: (value: unknown, source: string) => unknown;
}

export const substitute = '[token]';
/** A shorter token would occur in every answer by chance; only a sandbox accepts one. */
export const shortestToken = 3;
/** A shorter token is part of words by chance: it is masked only where no letter or digit adjoins it. */
const shortestInWords = 4;

export function createTokenMask(token: string): TokenMask {
  const spellings = spellingsOf(token);
  const isWord = token.length < shortestInWords;
  const text = (quoting: string): string => {
    let masked = quoting;
    for (const spelling of spellings) {
      // `includes` is several times as fast as `replaceAll`, and matches are rare.
      if (masked.includes(spelling))
        masked = masked.replaceAll(isWord ? asWord(spelling) : spelling, substitute);
    }
    return masked;
  };
  // `\u` escapes may stand for any character. Of the short escapes, only these stand for characters of a token.
  const escapes = /["\\]/.test(token) ? ['\\'] : ['\\u', '\\/'];
  const hints = [...spellings, ...escapes];
  return {
    text,
    // Much faster than walking through the value.
    json: (value, source) => {
      const mayQuote = token.length >= shortestToken && hints.some((hint) => source.includes(hint));
      return mayQuote ? maskedValue(value, text) : value;
    },
  };
}

function asWord(spelling: string): RegExp {
  const escaped = spelling.replace(/[\\^$.*+?()[\]{}|/]/g, '\\$&');
  return new RegExp(`(?<![\\p{L}\\p{N}])${escaped}(?![\\p{L}\\p{N}])`, 'gu');
}

/** The token in JSON, URLs and HTML. */
function spellingsOf(token: string): readonly string[] {
  const percentEncoded = encodeURIComponent(token);
  return [
    ...new Set([
      token,
      JSON.stringify(token).slice(1, -1),
      token.replaceAll('/', '\\/'),
      percentEncoded,
      percentEncoded.replace(/%../g, (code) => code.toLowerCase()),
      token.replace(/[&<>"']/g, (character) => htmlEntities[character] ?? character),
    ]),
  ];
}

const htmlEntities: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

function maskedValue(value: unknown, mask: (text: string) => string): unknown {
  if (typeof value === 'string') return mask(value);
  if (typeof value !== 'object' || value === null || isLosslessNumber(value)) return value;
  const parts = value as Record<string, unknown>;
  for (const key of Object.keys(parts)) {
    const part = maskedValue(parts[key], mask);
    const name = mask(key);
    if (name !== key) delete parts[key];
    if (name !== key || part !== parts[key]) parts[name] = part;
  }
  return value;
}
