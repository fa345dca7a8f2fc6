import type { Transform } from 'node:stream';
import {
  brotliDecompressSync,
  createBrotliDecompress,
  createGunzip,
  createInflate,
  createInflateRaw,
  gunzipSync,
  inflateRawSync,
  inflateSync,
} from 'node:zlib';
import { encodingByMark, textOfBytes } from '../../../base/text/marked-text.ts';

export const acceptedEncodings = 'gzip, br';

export type Content =
  | { readonly ok: true; readonly bytes: Buffer }
  | { readonly ok: false; readonly problem: ContentProblem };

export interface ContentProblem {
  /** Why content can't be decoded. `too-large`: larger than the client accepts, or out of all proportion to the compressed form. */
  readonly kind: 'unknown' | 'broken' | 'too-large';
  readonly encoding: string;
  readonly detail: string;
}

interface Decoder {
  /** Undoes the encoding of a whole body. */
  readonly decodeWhole: (bytes: Buffer, options: { readonly maxOutputLength: number }) => Buffer;
  readonly stream: () => Transform;
}

/** The largest ratio of decompressed to compressed bytes. JSON rarely reaches a hundred; a bomb exceeds a thousand. */
const maxRatio = 200;
/** Up to this size no ratio is suspicious: the first megabyte of zeros fits into ten bytes of Brotli. */
const harmlessBytes = 1024 * 1024;
/** The most encodings of one body. Compressed bytes can be their own decompressed form, without an end. */
const maxEncodings = 3;

/**
 * Undoes `Content-Encoding` (RFC 9110, section 8.4). Stops as soon as the output exceeds `maxBytes`, or 200 times the input. Synchronous,
 * because the thread pool takes longer than decompressing the usual few kilobytes.
 */
export function decodeContent(bytes: Buffer, encoding: string, maxBytes: number): Content {
  // An answer without content (204, some errors) may still name an encoding.
  if (bytes.length === 0) return { ok: true, bytes };
  const decoders = decodersOf(encoding, bytes);
  if (!Array.isArray(decoders)) return { ok: false, problem: decoders };
  const maxOutputLength = Math.min(maxBytes, Math.max(harmlessBytes, maxRatio * bytes.length));
  const failed = (kind: ContentProblem['kind'], detail: string): Content => ({
    ok: false,
    problem: { kind, encoding, detail },
  });
  let decoded = bytes;
  for (const { decodeWhole } of decoders) {
    try {
      decoded = decodeWhole(decoded, { maxOutputLength });
    } catch (error) {
      const { code, message } = error as NodeJS.ErrnoException;
      return code === 'ERR_BUFFER_TOO_LARGE'
        ? failed('too-large', `${bytes.length} bytes become more than ${maxOutputLength}`)
        : failed('broken', message);
    }
  }
  return { ok: true, bytes: decoded };
}

/**
 * The decoders that undo an encoding, in this order.
 *
 * @param start of the encoded bytes: some proxies decompress them, and keep the header
 */
export function decodersOf(encoding: string, start: Buffer): Decoder[] | ContentProblem {
  const names = encoding
    .split(',')
    .map((name) => name.trim().toLowerCase())
    .filter((name) => name !== '' && name !== 'identity')
    .toReversed();
  const unknown = (detail: string): ContentProblem => ({ kind: 'unknown', encoding, detail });
  if (names.length > maxEncodings) return unknown(`${names.length} encodings over each other`);
  if (isGzip(names[0]) && start[0] !== 0x1f) names.shift();
  const decoders = names.flatMap(
    (name, index) =>
      (name === 'deflate' && index === 0 && isRawDeflate(start) ? rawDecoder : decodersByName.get(name)) ??
      [],
  );
  return decoders.length === names.length ? decoders : unknown('not asked for');
}

function isGzip(name: string | undefined): boolean {
  return name === 'gzip' || name === 'x-gzip';
}

const gzipDecoder: Decoder = { decodeWhole: gunzipSync, stream: () => createGunzip() };
const rawDecoder: Decoder = { decodeWhole: inflateRawSync, stream: () => createInflateRaw() };

const decodersByName: ReadonlyMap<string, Decoder> = new Map<string, Decoder>([
  ['gzip', gzipDecoder],
  ['x-gzip', gzipDecoder],
  ['br', { decodeWhole: brotliDecompressSync, stream: () => createBrotliDecompress() }],
  ['deflate', { decodeWhole: inflateSync, stream: () => createInflate() }],
]);

/** Whether bytes are in the raw `deflate` format, which some servers send instead of the zlib format (RFC 9110, 8.4.1.2). */
function isRawDeflate(bytes: Buffer): boolean {
  const [first = 0, second] = bytes;
  return (first & 0x0f) !== 8 || (second !== undefined && (first * 256 + second) % 31 !== 0);
}

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

/** The encoding of UTF-16 without a byte order mark: JSON begins with an ASCII character, beside which is a zero. */
function encodingByZeros(bytes: Buffer): string | undefined {
  const [first, second] = [bytes[0], bytes[1]];
  if (second === undefined || (first === 0) === (second === 0)) return undefined;
  return first === 0 ? 'utf-16be' : 'utf-16le';
}
