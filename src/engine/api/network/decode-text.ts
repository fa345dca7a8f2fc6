import { decoded } from '../../../base/text/marked-text.ts';

const charset = /;\s*charset\s*=\s*"?([^\s";]+)/i;

/**
 * Decodes by the byte order mark, which is dropped, by the zero beside the first character of UTF-16, by the charset that `Content-Type`
 * names, or as UTF-8. Bytes that the encoding does not have become U+FFFD.
 */
export function decodeText(bytes: Buffer, contentType = ''): string {
  const encoding = encodingOf(bytes) ?? charset.exec(contentType)?.[1];
  if (encoding === undefined || /^utf-?8$/i.test(encoding)) return decoded(bytes);
  try {
    return decoded(bytes, encoding);
  } catch {
    return decoded(bytes);
  }
}

function encodingOf(bytes: Buffer): string | undefined {
  const [first, second, third] = [bytes[0], bytes[1], bytes[2]];
  if (first === 0xef && second === 0xbb && third === 0xbf) return 'utf-8';
  if (first === 0xff && second === 0xfe) return 'utf-16le';
  if (first === 0xfe && second === 0xff) return 'utf-16be';
  // JSON begins with an ASCII character.
  if (second === undefined || (first === 0) === (second === 0)) return undefined;
  return first === 0 ? 'utf-16be' : 'utf-16le';
}
