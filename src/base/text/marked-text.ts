export type MarkedEncoding = 'utf-8' | 'utf-16le' | 'utf-16be';

/** Byte order marks and their encodings (RFC 2781, section 3.2; RFC 3629, section 6). */
export function encodingByMark(head: Buffer): MarkedEncoding | undefined {
  const [first, second, third] = [head[0], head[1], head[2]];
  if (first === 0xff && second === 0xfe) return 'utf-16le';
  if (first === 0xfe && second === 0xff) return 'utf-16be';
  return first === 0xef && second === 0xbb && third === 0xbf ? 'utf-8' : undefined;
}

/** The text without the byte order mark that Notepad and PowerShell write. A text without a mark is UTF-8. */
export function markedText(bytes: Buffer): string {
  return textOfBytes(bytes, encodingByMark(bytes));
}

/** Decoders are kept, because each answer of an API is decoded. */
const utf8 = new TextDecoder();

/**
 * Decodes a whole text, and drops its byte order mark.
 *
 * @param encoding a name of `TextDecoder`
 * @throws a `RangeError` for an unknown encoding
 */
export function textOfBytes(bytes: Uint8Array, encoding = 'utf-8'): string {
  if (encoding === 'utf-8') return utf8.decode(bytes);
  const decoder = new TextDecoder(encoding);
  // Without `stream`, Node 20 takes Windows-1252 for Latin-1: `€` would become U+0080.
  return decoder.decode(bytes, { stream: true }) + decoder.decode();
}
