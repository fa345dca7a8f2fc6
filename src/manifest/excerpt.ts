import { stringifyJson } from '../json.ts';
import { escapeInvisible } from '../printable.ts';

/** How many characters of a value are shown. */
const shownCharacters = 60;

/** A value for people: one line, at most 60 characters and an ellipsis, nothing that a terminal acts on. */
export function excerpt(value: unknown): string {
  if (value === undefined) return '';
  const text = typeof value === 'string' ? value : stringifyJson(value);
  const characters = [...text.slice(0, 2 * shownCharacters + 2)];
  const shown = characters.slice(0, shownCharacters).join('');
  return escapeInvisible(shown) + (characters.length > shownCharacters ? '…' : '');
}
