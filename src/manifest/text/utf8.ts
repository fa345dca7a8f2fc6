import { isUtf8 } from 'node:buffer';
import { TextMistake } from './position.ts';

/**
 * Passes bytes on when they are UTF-8 (RFC 3629), cut so that no chunk ends inside a character.
 *
 * @throws TextMistake (`MANIFEST_NOT_UTF8`, `MANIFEST_BINARY`) at the first byte that is not, with the remedy.
 */
export async function* checkUtf8(chunks: AsyncIterable<Buffer>): AsyncGenerator<Buffer, void, undefined> {
  let rest: Buffer = Buffer.alloc(0);
  let offset = 0;
  for await (const chunk of chunks) {
    const bytes = rest.length === 0 ? chunk : Buffer.concat([rest, chunk]);
    const end = bytes.length - incompleteLength(bytes);
    const whole = bytes.subarray(0, end);
    if (!isUtf8(whole)) throw notUtf8(whole, offset);
    if (end > 0) yield whole;
    rest = bytes.subarray(end);
    offset += end;
  }
  if (rest.length > 0) throw notUtf8(rest, offset);
}

/** How many bytes at the end are the beginning of a character that goes on. */
function incompleteLength(bytes: Buffer): number {
  for (let back = 1; back <= Math.min(3, bytes.length); back++) {
    const byte = bytes[bytes.length - back] ?? 0;
    if (byte >= 0xc0) {
      const length = byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : 2;
      return length > back ? back : 0;
    }
    if (byte < 0x80) return 0;
  }
  return 0;
}

function notUtf8(bytes: Buffer, chunkOffset: number): TextMistake {
  const index = firstInvalidIndex(bytes);
  const offset = chunkOffset + index;
  if (bytes.includes(0)) {
    return new TextMistake('MANIFEST_BINARY', offset, 'this is no text; save the data as "CSV UTF-8"');
  }
  const byte = bytes[index] ?? 0;
  const hex = byte.toString(16).toUpperCase().padStart(2, '0');
  const character = new TextDecoder('windows-1252').decode(Uint8Array.of(byte));
  const meaning = byte < 0xa0 ? '' : ` (in Latin-1 and Windows-1252 it is "${character}")`;
  return new TextMistake(
    'MANIFEST_NOT_UTF8',
    offset,
    `byte 0x${hex} at offset ${offset} is not UTF-8${meaning}; ` +
      'save the file as "CSV UTF-8", or convert it: iconv -f WINDOWS-1252 -t UTF-8 old.csv > new.csv',
  );
}

/** Decoding puts U+FFFD for what is invalid; the first byte that encoding does not give back belongs to it. */
function firstInvalidIndex(bytes: Buffer): number {
  const again = Buffer.from(bytes.toString('utf8'), 'utf8');
  let index = 0;
  while (index < bytes.length && bytes[index] === again[index]) index++;
  while (index > 0 && ((again[index] ?? 0) & 0xc0) === 0x80) index--;
  return index;
}
