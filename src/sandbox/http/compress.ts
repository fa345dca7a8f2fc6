import { brotliCompressSync, constants, deflateSync, gzipSync } from 'node:zlib';
import type { Compression } from '../service/delivery.ts';

const compressors = {
  gzip: (body: string) => gzipSync(body),
  // The default quality is for files that are compressed once.
  br: (body: string) => brotliCompressSync(body, { params: { [constants.BROTLI_PARAM_QUALITY]: 4 } }),
  deflate: (body: string) => deflateSync(body),
} as const satisfies Record<Exclude<Compression, 'none'>, (body: string) => Buffer>;

/** A body as `Content-Encoding` says it is. */
export function compress(body: string, compression: Exclude<Compression, 'none'>): Buffer {
  return compressors[compression](body);
}
