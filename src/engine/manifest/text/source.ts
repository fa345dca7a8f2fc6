import { isUtf8 } from 'node:buffer';
import { stat } from 'node:fs/promises';
import { pipeline } from 'node:stream';
import { createGunzip } from 'node:zlib';
import { readFileParts } from '../../../base/disk/open-file.ts';
import { usageError } from '../../../base/errors/errors.ts';
import { shellWord } from '../../../base/text/command-words.ts';
import { textOfBytes } from '../../../base/text/marked-text.ts';
import type { Operation } from '../../operation/operation.ts';
import { excerpt } from '../../rows/problem.ts';
import {
  manifestTooLarge,
  maxRecordBytes,
  type Position,
  PositionCounter,
  readingError,
  TextMistake,
} from './mistake.ts';

export const readSize = 256 * 1024;

/** The most bytes of blank lines, or of white space between JSON values: a small gzip file can unzip to any number. */
const maxBlankBytes = 4 * 1024 * 1024;

export interface ByteSource {
  readonly path: string;
  readonly name: string;
  readonly gzip: boolean;
  /** The encoding of the text. Absent for UTF-8. */
  readonly encoding?: string | undefined;
  readonly context?: ReadingContext;
}

export interface TextSource extends ByteSource {
  /** The length of the byte order mark: 0 or 3. */
  readonly bomLength: number;
  /** The number of bytes before the text, including the byte order mark. */
  readonly start: number;
  /** The number of the text's first line, from 1. */
  readonly firstLine: number;
}

export interface ReadingContext {
  /** The most bytes of the file, and of the unzipped text. */
  readonly maxBytes?: number;
  readonly signal?: AbortSignal;
  /** The known operations: a header has a required field of one of them. Default: none. */
  readonly operations?: readonly Operation[];
}

export type InputKind = 'file' | 'pipe';

/**
 * Whether a path is a file or a pipe, without opening it.
 *
 * @throws CqbatchError (`usage`) for directories, devices, sockets, and files that are too large
 */
export async function inputKind(
  path: string,
  name: string,
  { maxBytes = Number.POSITIVE_INFINITY }: ReadingContext = {},
): Promise<InputKind> {
  const stats = await stat(path).catch((error) => {
    throw readingError(name, error);
  });
  if (stats.isFIFO()) return 'pipe';
  if (stats.isFile()) {
    if (stats.size > maxBytes) throw manifestTooLarge(name, 'the file', maxBytes);
    return 'file';
  }
  const problem = stats.isDirectory()
    ? `this is a folder; pass a file, or run each manifest in it: cqbatch watch ${shellWord(path)}`
    : `this is a ${stats.isSocket() ? 'socket' : 'device'}, not a file; to read from it, pass it as standard input (-)`;
  throw usageError('MANIFEST_NOT_A_FILE', `${name}: ${problem}`);
}

/**
 * Gives the bytes of a file, unzipped and converted to UTF-8. Includes the byte order mark unless converted.
 *
 * @throws CqbatchError (`usage`) when the file cannot be read or its gzip data is damaged, TextMistake for bytes outside its encoding
 */
export async function* readBytes(source: ByteSource): AsyncGenerator<Buffer, void, undefined> {
  const { encoding } = source;
  yield* encoding === undefined ? readUnzipped(source) : recode(readUnzipped(source), encoding);
}

async function* recode(
  chunks: AsyncIterable<Buffer>,
  encoding: string,
): AsyncGenerator<Buffer, void, undefined> {
  const decoder = new TextDecoder(encoding, { fatal: true });
  const decode = (chunk?: Buffer): Buffer => {
    try {
      return Buffer.from(decoder.decode(chunk, { stream: chunk !== undefined }));
    } catch {
      throw new TextMistake(
        'MANIFEST_NOT_ENCODED',
        undefined,
        `this is not ${encoding}; pass the right --encoding`,
      );
    }
  };
  for await (const chunk of chunks) yield decode(chunk);
  yield decode();
}

async function* readUnzipped(source: ByteSource): AsyncGenerator<Buffer, void, undefined> {
  const { maxBytes = Number.POSITIVE_INFINITY, signal } = source.context ?? {};
  let bytes = 0;
  const file = readFileParts(source.path, { partBytes: readSize, mostBytes: maxBytes });
  const parts = source.gzip ? pipeline(file, createGunzip({ chunkSize: readSize }), () => {}) : file;
  try {
    for await (const chunk of parts) {
      signal?.throwIfAborted();
      bytes += chunk.length;
      if (bytes > maxBytes) throw manifestTooLarge(source.name, 'the unzipped text', maxBytes);
      yield chunk;
    }
  } catch (error) {
    throw readingError(source.name, error);
  }
}

/**
 * Gives the text from its start, valid UTF-8; no chunk ends inside a character.
 *
 * @throws TextMistake when the bytes are not UTF-8, or too many are blank, and errors of `readBytes`
 */
export async function* readText(source: TextSource): AsyncGenerator<Buffer, void, undefined> {
  let toSkip = source.start;
  let offset = 0;
  let blankBytes = 0;
  for await (const chunk of checkUtf8(readBytes(source), () => remedyFor(source))) {
    offset += chunk.length;
    if (isWhiteSpace(chunk)) blankBytes += chunk.length;
    if (blankBytes > maxBlankBytes) {
      const problem = 'more than 4 MiB of blank lines up to here; delete them';
      throw new TextMistake('MANIFEST_TOO_LARGE', offset, problem);
    }
    const text = chunk.subarray(toSkip);
    toSkip -= chunk.length - text.length;
    if (text.length > 0) yield text;
  }
}

function isWhiteSpace(bytes: Buffer): boolean {
  for (const byte of bytes) if (byte !== 0x20 && (byte < 0x09 || byte > 0x0d)) return false;
  return true;
}

/**
 * Passes on text that is valid UTF-8 (RFC 3629); no chunk ends inside a character.
 *
 * @param remedy for bytes of another encoding
 * @throws TextMistake (`MANIFEST_NOT_UTF8`, `MANIFEST_BINARY`) at the first invalid byte
 */
export async function* checkUtf8(
  chunks: AsyncIterable<Buffer>,
  remedy: () => string | Promise<string> = () => usualRemedy,
): AsyncGenerator<Buffer, void, undefined> {
  let rest: Buffer = Buffer.alloc(0);
  let offset = 0;
  for await (const chunk of chunks) {
    const bytes = rest.length === 0 ? chunk : Buffer.concat([rest, chunk]);
    const end = bytes.length - incompleteLength(bytes);
    const characters = bytes.subarray(0, end);
    if (!isUtf8(characters)) throw notUtf8(characters, offset, await remedy());
    if (end > 0) yield characters;
    rest = bytes.subarray(end);
    offset += end;
  }
  if (rest.length > 0) throw notUtf8(rest, offset, await remedy());
}

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

const usualRemedy = '; save the file as "CSV UTF-8", or pass its encoding, such as --encoding windows-1252';

/** What to do about bytes that are not UTF-8. If a line of the file is UTF-8, no other encoding fits. */
async function remedyFor(source: ByteSource): Promise<string> {
  const line = await findUtf8Line(source);
  if (line === undefined) return usualRemedy;
  return (
    `, but line ${line.number} is UTF-8 (${excerpt(line.text)}): the file mixes encodings, so that no --encoding reads it right; ` +
    'save each of its parts as "CSV UTF-8" before you join them'
  );
}

async function findUtf8Line(
  source: ByteSource,
): Promise<{ readonly number: number; readonly text: string } | undefined> {
  let number = 0;
  let rest = '';
  for await (const chunk of readBytes(source)) {
    const lines = (rest + chunk.toString('latin1')).split('\n');
    rest = lines.pop() ?? '';
    if (rest.length > maxRecordBytes) return undefined;
    for (const line of lines) {
      number++;
      const text = utf8Text(line);
      if (text !== undefined) return { number, text };
    }
  }
  const text = utf8Text(rest);
  return text === undefined ? undefined : { number: number + 1, text };
}

/** The text of a line that is UTF-8, undefined if it is not. @param line its bytes as Latin-1 */
function utf8Text(line: string): string | undefined {
  if (!/[\x80-\xff]/.test(line)) return undefined;
  const bytes = Buffer.from(line.replace(/^\xef\xbb\xbf/, ''), 'latin1');
  const text = bytes.toString().trim();
  // A few bytes of another encoding may be UTF-8 by chance. The characters are then rare letters, or single ones.
  const isPlain =
    /[\u00a0-\u017f\u0800-\uffff]|[^\0-\x7f]{3}/.test(text) && !/[\u0080-\u009f\u0180-\u036f]/.test(text);
  return isUtf8(bytes) && isPlain ? text : undefined;
}

function notUtf8(bytes: Buffer, chunkOffset: number, remedy: string): TextMistake {
  const index = firstInvalidIndex(bytes);
  const offset = chunkOffset + index;
  if (bytes.includes(0)) {
    return new TextMistake('MANIFEST_BINARY', offset, 'this is not text; save the data as "CSV UTF-8"');
  }
  const byte = bytes[index] ?? 0;
  const hex = byte.toString(16).toUpperCase().padStart(2, '0');
  const character = textOfBytes(Uint8Array.of(byte), 'windows-1252');
  // Five bytes have no character in Windows-1252.
  const meaning = character < '\u00a0' ? '' : ` (in Windows-1252 it is "${character}")`;
  return new TextMistake(
    'MANIFEST_NOT_UTF8',
    offset,
    `byte 0x${hex} at offset ${offset} is not UTF-8${meaning}${remedy}`,
  );
}

/** The index of the first byte that is not UTF-8. Decoding replaces such bytes with U+FFFD, so encoding again changes them. */
function firstInvalidIndex(bytes: Buffer): number {
  const again = Buffer.from(bytes.toString('utf8'), 'utf8');
  let index = 0;
  while (index < bytes.length && bytes[index] === again[index]) index++;
  while (index > 0 && ((again[index] ?? 0) & 0xc0) === 0x80) index--;
  return index;
}

export async function located<Result>(source: TextSource, read: () => Promise<Result>): Promise<Result> {
  try {
    return await read();
  } catch (error) {
    throw await locate(source, error);
  }
}

export async function locate(source: TextSource, error: unknown): Promise<unknown> {
  if (!(error instanceof TextMistake)) return error;
  const { code, at, message } = error;
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
