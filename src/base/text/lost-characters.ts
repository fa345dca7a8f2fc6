import { textOfBytes } from './marked-text.ts';

/** U+FFFD stands for bytes that were no text, and half of a pair of surrogates for a character that was cut. */
const lostCharacter = /[\ufffd\p{Cs}]/u;

export function hasLostCharacters(text: string): boolean {
  return lostCharacter.test(text);
}

/** Half of a pair of surrogates: UTF-8 can't encode it, and writing replaces it with U+FFFD. */
const loneSurrogate = /\p{Cs}/u;

export function hasLoneSurrogate(text: string): boolean {
  return loneSurrogate.test(text);
}

/** The bytes 80 to FF, by the characters that they stand for in Windows-1252 and Latin-1. */
const misreadBytes = new Map(
  Array.from({ length: 0x80 }, (_, index) => 0x80 + index).flatMap((byte) => [
    [String.fromCharCode(byte), byte] as const,
    [textOfBytes(Uint8Array.of(byte), 'windows-1252'), byte] as const,
  ]),
);

const followingCharacter = '[\\u0080-\\u00bf\\u0152-\\u2122]';

/**
 * UTF-8 read as Windows-1252: `Ã¼`, `â€“`, `zÅ‚`, `Ð¿Ñ€`, `æ—¥æœ¬`. Other pairs, such as `É»`, are probably meant, unless a second one
 * follows.
 */
const misreadUtf8 = new RegExp(
  [
    `[ÂÃ][\\u0080-\\u00bf]|Ã${followingCharacter}|â[€\\u0080]${followingCharacter}`,
    `\\p{Ll}[Ä-Ñ]${followingCharacter}|(?:[Ä-Ñ]${followingCharacter}|[à-ï]${followingCharacter}{2}){2}`,
  ].join('|'),
  'u',
);

/** What a text was before a program read its UTF-8 as Windows-1252: `Grüße` for `GrÃ¼ÃŸe`. Undefined for other texts. */
export function textBeforeMisreading(text: string): string | undefined {
  if (!misreadUtf8.test(text)) return undefined;
  const repaired = text.replace(/[^\0-\x7f]+/g, (characters) => {
    const bytes = [...characters].map((character) => misreadBytes.get(character) ?? -1);
    if (bytes.includes(-1)) return characters;
    const text = textOfBytes(Uint8Array.from(bytes));
    return text.includes('\ufffd') ? characters : text;
  });
  return repaired === text ? undefined : repaired;
}
