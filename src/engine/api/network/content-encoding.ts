import { brotliDecompressSync, gunzipSync, inflateRawSync, inflateSync } from 'node:zlib';

export const acceptedEncodings = 'gzip, br';

export type Content =
  | { readonly ok: true; readonly bytes: Buffer }
  | { readonly ok: false; readonly problem: ContentProblem };

export interface ContentProblem {
  /** `too-large`: larger than the client accepts, or out of all proportion to the compressed form. */
  readonly kind: 'unknown' | 'broken' | 'too-large';
  readonly encoding: string;
  readonly detail: string;
}

/** Repetitive JSON is rarely compressed to less than a hundredth; a bomb is expanded more than a thousandfold. */
const maxRatio = 200;
/** Up to this size no ratio is suspicious: the first megabyte of zeros fits into ten bytes of Brotli. */
const harmlessBytes = 1024 * 1024;
/** A file can be its own compressed form, without end. */
const maxEncodings = 3;

/**
 * Undoes `Content-Encoding` (RFC 9110, section 8.4). Stops as soon as the output exceeds `maxBytes`, or 200 times the input. Synchronous,
 * because the thread pool takes longer than decompressing the usual few kilobytes.
 */
export function decodeContent(bytes: Buffer, encoding: string, maxBytes: number): Content {
  // Answers without content (204, some errors) may still name an encoding.
  if (bytes.length === 0) return { ok: true, bytes };
  const names = encoding
    .split(',')
    .map((name) => name.trim().toLowerCase())
    .filter((name) => name !== '' && name !== 'identity');
  const decoders = names.map((name) => decodersByName.get(name));
  const maxOutputLength = Math.min(maxBytes, Math.max(harmlessBytes, maxRatio * bytes.length));
  if (names.length > maxEncodings) {
    return failed('unknown', encoding, `${names.length} encodings over each other`);
  }
  let decoded = bytes;
  for (const decode of decoders.toReversed()) {
    if (decode === undefined) return failed('unknown', encoding, 'not asked for');
    try {
      decoded = decode(decoded, { maxOutputLength });
    } catch (error) {
      const { code, message } = error as NodeJS.ErrnoException;
      return code === 'ERR_BUFFER_TOO_LARGE'
        ? failed('too-large', encoding, `${bytes.length} bytes become more than ${maxOutputLength}`)
        : failed('broken', encoding, message);
    }
  }
  return { ok: true, bytes: decoded };
}

function failed(kind: ContentProblem['kind'], encoding: string, detail: string): Content {
  return { ok: false, problem: { kind, encoding, detail } };
}

type Decode = (bytes: Buffer, options: { readonly maxOutputLength: number }) => Buffer;

const decodersByName: ReadonlyMap<string, Decode> = new Map<string, Decode>([
  ['gzip', gunzipSync],
  ['x-gzip', gunzipSync],
  ['br', brotliDecompressSync],
  ['deflate', inflateEither],
]);

/** `deflate` means the zlib format; some servers send the raw format inside it (RFC 9110, section 8.4.1.2). */
function inflateEither(bytes: Buffer, options: { readonly maxOutputLength: number }): Buffer {
  const hasZlibHeader =
    bytes.length > 1 && (bytes.readUInt8(0) & 0x0f) === 8 && bytes.readUInt16BE(0) % 31 === 0;
  return hasZlibHeader ? inflateSync(bytes, options) : inflateRawSync(bytes, options);
}
