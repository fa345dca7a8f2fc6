/**
 * Terminals act on these characters instead of showing them: controls (C0, DEL, C1, so every escape sequence), format characters
 * (bidirectional controls, zero-width ones), lone surrogates, line and paragraph separators.
 */
const unprintable = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/gu;

const unprintableInLines = /(?!\n)[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/gu;

/** Controls, except line feeds and tabs, and Unicode's Bidi_Control, which changes the order of letters. */
const misleading = /(?![\n\t])[\p{Cc}\p{Bidi_Control}]/gu;

/** A text for a page: `\u202e` in place of a control. Joined emoji stay whole. */
export function inReadingOrder(text: string): string {
  return text.replace(misleading, escaped);
}

export function shortened(text: string, longest: number): string {
  return text.length > longest ? `${text.slice(0, longest)}…` : text;
}

/** The beginning of a text, with `…` after its last whole word. A long word is cut. */
export function shortenedAtWord(text: string, longest: number): string {
  if (text.length <= longest) return text;
  const beginning = text.slice(0, longest - 1);
  const [words = ''] = /^.*\S(?=\s\S*$)/s.exec(text.slice(0, longest)) ?? [];
  return `${words.length > longest / 2 ? words : beginning}…`;
}

/** A text as one line, safe to print: `\u001b` in place of an escape character, `\n` in place of a line feed. */
export function escapeInvisible(text: string): string {
  return text.replace(unprintable, escaped);
}

/** A text as lines that are safe to print: line feeds stay. */
export function printable(text: string): string {
  return text.replace(unprintableInLines, escaped);
}

/** The value stays the same: in JSON, unprintable characters occur only in strings. */
export function printableJson(json: string): string {
  return json.replace(unprintableInLines, (character) => {
    let text = '';
    for (let unit = 0; unit < character.length; unit++) text += unicodeEscape(character.charCodeAt(unit));
    return text;
  });
}

function escaped(character: string): string {
  const shortEscape = shortEscapes.get(character);
  if (shortEscape !== undefined) return shortEscape;
  const code = character.codePointAt(0) ?? 0;
  return code > 0xffff ? `\\u{${code.toString(16)}}` : unicodeEscape(code);
}

function unicodeEscape(code: number): string {
  return `\\u${code.toString(16).padStart(4, '0')}`;
}

const shortEscapes = new Map([
  ['\n', '\\n'],
  ['\r', '\\r'],
  ['\t', '\\t'],
]);
