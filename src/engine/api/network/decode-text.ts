import { encodingByMark, textOfBytes } from '../../../base/text/marked-text.ts';

const charset = /;\s*charset\s*=\s*"?([^\s";]+)/i;

/**
 * Decodes by the byte order mark, which is dropped, by the zero beside the first character of UTF-16, by the charset that `Content-Type`
 * names, or as UTF-8. Bytes that the encoding does not have become U+FFFD.
 */
export function decodeText(bytes: Buffer, contentType = ''): string {
  const encoding = encodingByMark(bytes) ?? encodingByZeros(bytes) ?? charset.exec(contentType)?.[1];
  if (encoding === undefined || /^utf-?8$/i.test(encoding)) return textOfBytes(bytes);
  try {
    return textOfBytes(bytes, encoding);
  } catch {
    return textOfBytes(bytes);
  }
}

/** JSON begins with an ASCII character. */
function encodingByZeros(bytes: Buffer): string | undefined {
  const [first, second] = [bytes[0], bytes[1]];
  if (second === undefined || (first === 0) === (second === 0)) return undefined;
  return first === 0 ? 'utf-16be' : 'utf-16le';
}
