import { createReadStream } from 'node:fs';
import { pipeline } from 'node:stream';
import { createGunzip } from 'node:zlib';
import { type CqbatchError, usageError } from '../../errors.ts';
import { systemError } from '../../system-error.ts';
import { type Position, PositionCounter, TextMistake } from './position.ts';
import { checkUtf8 } from './utf8.ts';

/** Bytes read at a time. */
export const readSize = 256 * 1024;

/** A file, perhaps gzipped, that can be read again and again. */
export interface ByteSource {
  readonly path: string;
  /** What to call it in messages. */
  readonly name: string;
  readonly gzip: boolean;
  readonly limits?: ReadingLimits;
}

/** The same when it is known how its text begins. */
export interface TextSource extends ByteSource {
  /** Length of the byte order mark in bytes: 0 or 3. */
  readonly bomLength: number;
}

/** What bounds the reading of a manifest. */
export interface ReadingLimits {
  /** Bytes of the file, and of the text after unzipping. */
  readonly maxBytes?: number;
  /** Gives the reading up. */
  readonly signal?: AbortSignal;
}

/**
 * The bytes after unzipping, byte order mark included.
 *
 * @throws CqbatchError (`usage`) when the file cannot be read or its gzip is damaged.
 */
export async function* readBytes(source: ByteSource): AsyncGenerator<Buffer, void, undefined> {
  const { maxBytes = Number.POSITIVE_INFINITY, signal } = source.limits ?? {};
  let bytes = 0;
  const file = createReadStream(source.path, { highWaterMark: readSize });
  const stream = source.gzip ? pipeline(file, createGunzip({ chunkSize: readSize }), () => {}) : file;
  try {
    for await (const chunk of stream) {
      signal?.throwIfAborted();
      bytes += chunk.length;
      if (bytes > maxBytes) {
        throw manifestTooLarge(source.name, source.gzip ? 'the unzipped text' : 'the file', maxBytes);
      }
      yield chunk;
    }
  } catch (error) {
    throw readingError(source.name, error);
  } finally {
    file.destroy();
  }
}

/**
 * The text without its byte order mark, as bytes that are checked to be UTF-8; no chunk ends inside a character.
 *
 * @throws TextMistake when the bytes are not UTF-8, and what `readBytes` throws.
 */
export async function* readText(source: TextSource): AsyncGenerator<Buffer, void, undefined> {
  let isFirst = true;
  for await (const chunk of checkUtf8(readBytes(source))) {
    const text = isFirst ? chunk.subarray(source.bomLength) : chunk;
    isFirst = false;
    if (text.length > 0) yield text;
  }
}

/** Runs a reading of the source; a mistake in the text becomes a `usageError` that names file, line and column. */
export async function located<Result>(source: TextSource, read: () => Promise<Result>): Promise<Result> {
  try {
    return await read();
  } catch (error) {
    throw error instanceof TextMistake ? await locate(source, error) : error;
  }
}

/** The same for a reading that yields results. */
export async function* locatedAll<Result>(
  source: TextSource,
  results: AsyncIterable<Result>,
): AsyncGenerator<Result, void, undefined> {
  try {
    yield* results;
  } catch (error) {
    throw error instanceof TextMistake ? await locate(source, error) : error;
  }
}

async function locate(source: TextSource, { code, at, message }: TextMistake): Promise<Error> {
  if (at === undefined) return usageError(code, `${source.name}: ${message}`);
  const { line, column } = typeof at === 'number' ? await positionOf(source, at) : at;
  return usageError(code, `${source.name}:${line}:${column}: ${message}`);
}

async function positionOf(source: TextSource, offset: number): Promise<Position> {
  const counter = new PositionCounter();
  let read = 0;
  for await (const chunk of readBytes(source)) {
    for (const byte of chunk) {
      if (read === offset) return counter.position;
      if (read >= source.bomLength) counter.advance(byte);
      read++;
    }
  }
  return counter.position;
}

/** @param what is too large. */
export function manifestTooLarge(name: string, what: string, maxBytes: number): CqbatchError {
  return usageError(
    'MANIFEST_TOO_LARGE',
    `${name}: ${what} is larger than --max-manifest-size allows (${sizeText(maxBytes)}); split it, or allow more`,
  );
}

/** A size for people: `500 MB`, or the bytes when no larger unit tells them exactly. */
function sizeText(bytes: number): string {
  const units = ['bytes', 'kB', 'MB', 'GB', 'TB'];
  let unit = 0;
  let size = bytes;
  // One digit behind the point is still easy to read.
  for (; unit + 1 < units.length && size >= 1000 && (size * 10) % 1000 === 0; unit++) size /= 1000;
  return `${size} ${units[unit]}`;
}

/** What a failure to read the file means to the user. */
export function readingError(name: string, error: unknown): unknown {
  switch ((error as NodeJS.ErrnoException).code) {
    case 'ENOENT':
      return usageError('MANIFEST_NOT_FOUND', `${name}: there is no such file`, error);
    case 'ENOTDIR':
    case 'ELOOP':
    case 'ENAMETOOLONG':
      return usageError('MANIFEST_NOT_FOUND', `${systemError(error, name)?.what}; correct it`, error);
    case 'EISDIR':
      return usageError('MANIFEST_NOT_A_FILE', `${name}: this is a directory; name a file`, error);
    case 'EACCES':
    case 'EPERM':
      return usageError('MANIFEST_UNREADABLE', `${name}: no permission to read this file`, error);
    case 'Z_BUF_ERROR':
      return usageError(
        'MANIFEST_GZIP_TRUNCATED',
        `${name}: the gzip data ends early; copy or download the file again`,
        error,
      );
    case 'Z_DATA_ERROR':
      return usageError(
        'MANIFEST_GZIP_DAMAGED',
        `${name}: the gzip data is damaged (${(error as Error).message}); copy or download the file again`,
        error,
      );
    default:
      return error;
  }
}
