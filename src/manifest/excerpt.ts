import { stringifyJson } from '../json.ts';

/** How many characters of a value are shown. */
const shownCharacters = 60;

/** A value for people: one line, at most 60 characters and an ellipsis, nothing that a terminal acts on. */
export function excerpt(value: unknown): string {
  if (value === undefined) return '';
  const text = typeof value === 'string' ? value : shortJson(value);
  const characters = [...text.slice(0, 2 * shownCharacters + 2)];
  const shown = characters.slice(0, shownCharacters).join('');
  return escapeInvisible(shown) + (characters.length > shownCharacters ? '…' : '');
}

/** Replaces line breaks, control characters, bidirectional and other format controls and lone surrogates by escapes. */
export function escapeInvisible(text: string): string {
  return text.replace(/[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/gu, (character) => {
    const known = shortEscapes.get(character);
    if (known !== undefined) return known;
    const code = character.codePointAt(0) ?? 0;
    return code > 0xffff ? `\\u{${code.toString(16)}}` : `\\u${code.toString(16).padStart(4, '0')}`;
  });
}

function shortJson(value: unknown): string {
  return stringifyJson(value);
}

const shortEscapes = new Map([
  ['\n', '\\n'],
  ['\r', '\\r'],
  ['\t', '\\t'],
]);
