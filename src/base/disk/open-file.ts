import { constants } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { size } from '../text/format.ts';
import { markedText } from '../text/marked-text.ts';

/** The message ends the sentence "Can't read …:". */
export class NotAFileError extends Error {
  readonly kind: string;

  constructor(kind: string) {
    super(`it is a ${kind}, not a file`);
    this.kind = kind;
  }
}

/** The message ends the sentence "Can't read …:". */
export class FileTooLargeError extends Error {
  readonly mostBytes: number;

  constructor(mostBytes: number) {
    super(`it is larger than ${size(mostBytes)}`);
    this.mostBytes = mostBytes;
  }
}

export interface OpenFileOptions {
  /** The largest size of the file. Default: any. */
  readonly mostBytes?: number;
  /** The flags of open(2). Default: to read. */
  readonly flags?: number;
  /** The mode of a file that the flags create. */
  readonly mode?: number;
}

/** Flags of open(2) that keep a pipe from blocking and a terminal from taking control. Windows has none of these. */
const { O_NONBLOCK = 0, O_NOCTTY = 0 } = constants;

/**
 * Opens a regular file, of which a user or another program may have made something else. Opening a pipe would block a thread until another
 * process writes to the pipe, so that this process could not end. A device may never end.
 *
 * @throws the error of the system, a `NotAFileError`, or a `FileTooLargeError`
 */
export async function openFile(
  path: string,
  { mostBytes = Number.POSITIVE_INFINITY, flags = constants.O_RDONLY, mode = 0o600 }: OpenFileOptions = {},
): Promise<FileHandle> {
  const file = await open(path, flags | O_NONBLOCK | O_NOCTTY, mode).catch((error: NodeJS.ErrnoException) => {
    throw error.code === 'ENXIO' ? new NotAFileError('socket') : error;
  });
  try {
    const found = await file.stat();
    if (found.isDirectory()) throw new NotAFileError('folder');
    if (!found.isFile()) throw new NotAFileError(found.isFIFO() ? 'pipe' : 'device');
    if (found.size > mostBytes) throw new FileTooLargeError(mostBytes);
    return file;
  } catch (error) {
    await file.close();
    throw error;
  }
}

/** The bytes of a file as `openFile` opens it. `mostBytes` also limits a file that grows meanwhile. */
export async function* readFileParts(
  path: string,
  {
    partBytes = 64 * 1024,
    start,
    ...options
  }: OpenFileOptions & { readonly partBytes?: number; readonly start?: number } = {},
): AsyncGenerator<Buffer, void, undefined> {
  const { mostBytes = Number.POSITIVE_INFINITY } = options;
  const file = await openFile(path, options);
  const stream = file.createReadStream({ highWaterMark: partBytes, ...(start !== undefined && { start }) });
  let bytes = 0;
  try {
    for await (const part of stream as AsyncIterable<Buffer>) {
      bytes += part.length;
      if (bytes > mostBytes) throw new FileTooLargeError(mostBytes);
      yield part;
    }
  } finally {
    stream.destroy();
  }
}

/** The largest size of a small file: files of settings and tokens are far smaller. */
const smallFileBytes = 1_000_000;

/**
 * Text in UTF-8, or in UTF-16 with a byte order mark.
 *
 * @throws what `openFile` throws
 */
export async function readSmallFile(path: string, mostBytes = smallFileBytes): Promise<string> {
  const file = await openFile(path, { mostBytes });
  try {
    const bytes = await file.readFile();
    // An empty file is read to its end, which may have moved.
    if (bytes.length > mostBytes) throw new FileTooLargeError(mostBytes);
    return markedText(bytes);
  } finally {
    await file.close();
  }
}
