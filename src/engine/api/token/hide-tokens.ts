import { escapeInvisible, shortened } from '../../../base/text/printable.ts';
import { createTokenMask, maxServerTextLength, shortestToken, substitute } from '../server-text.ts';

/** `token=…`, `"access_token": "…"`, `Bearer …`. */
const presented = /(\bbearer\s+|(?:token|secret|password|assertion|key)["']?\s*[:=]\s*["']?)([^\s"',;&]+)/gi;

/** Words as long as tokens; those with a slash may be paths. */
const longWord = /[\w.~+/=-]{20,}/g;

/**
 * The first line of a text, with visible control characters. Hides known tokens and what looks like a token, because a program may quote a
 * token that it did not print.
 */
export function firstLineWithoutTokens(text: string, known: readonly string[]): string {
  const line = text.split(/[\r\n]+/).find((each) => each.trim() !== '') ?? '';
  const bare = line.replace(/[^\x20-\x7e]+/g, '');
  const quoted = withoutKnown(line, known);
  // Control characters inside a token must not let it pass.
  const safe = withoutKnown(bare, known) === bare ? quoted : withoutKnown(bare, known);
  const guessed = safe
    .replace(presented, (whole, before: string, value: string) =>
      /["'=]\s*$|^bearer/i.test(before) || /\d/.test(value) ? before + substitute : whole,
    )
    .replace(longWord, (word) =>
      /^[.~]*\//.test(word) ? word.replace(/[^/]{20,}/g, unlessSecret) : unlessSecret(word),
    );
  return shortened(escapeInvisible(guessed.trim()), maxServerTextLength);
}

/** Longer ones first, because a token may contain another. Short ones occur in texts by chance. */
function withoutKnown(text: string, tokens: readonly string[]): string {
  return tokens
    .filter((token) => token.length >= shortestToken)
    .toSorted((a, b) => b.length - a.length)
    .reduce((left, token) => createTokenMask(token).text(left), text);
}

/** Names have no digits; random texts of this length do. */
function unlessSecret(word: string): string {
  return /\d/.test(word) && /[a-z]/i.test(word) ? substitute : word;
}
