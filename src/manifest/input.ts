import { constants, createReadStream, open as openCallback } from 'node:fs';
import { stat } from 'node:fs/promises';
import { Socket } from 'node:net';
import { addAbortSignal, type Readable } from 'node:stream';
import { promisify } from 'node:util';
import { usageError } from '../errors.ts';
import { manifestTooLarge, type ReadingContext, readingError, readSize } from './text/source.ts';

export interface InputOptions extends ReadingContext {
  /** What `-` stands for; default is the standard input of this process. */
  readonly stdin?: Readable;
  /** Called when nothing has come from a pipe or from standard input for a second. */
  readonly onWaiting?: (name: string) => void;
}

/** A file can be read again and again, a pipe once. */
export type InputKind = 'file' | 'pipe';

/** Somebody who waits for longer wants to know for what. */
const silentMs = 1_000;

/**
 * Looks at what a path leads to before it is opened.
 *
 * @throws CqbatchError (`usage`) for what is no manifest whatever it holds: directories, devices, sockets, and files
 *   that are too large.
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
    ? 'this is a directory; name a file'
    : `this is a ${stats.isSocket() ? 'socket' : 'device'}, no file; pass what it gives as standard input (-), if that is meant`;
  throw usageError('MANIFEST_NOT_A_FILE', `${name}: ${problem}`);
}

/**
 * The bytes of a manifest as they come: from a file, a pipe with a name, or standard input (`-`).
 *
 * @param name what to call it in messages.
 * @throws CqbatchError (`usage`) when it cannot be read, or is larger than allowed.
 */
export async function* readInput(
  source: string,
  name: string,
  options: InputOptions = {},
): AsyncGenerator<Buffer, void, undefined> {
  const { signal, maxBytes = Number.POSITIVE_INFINITY, onWaiting } = options;
  const kind = source === '-' ? 'stdin' : await inputKind(source, name, options);
  const waiting = kind === 'file' ? undefined : setTimeout(() => onWaiting?.(name), silentMs);
  let bytes = 0;
  try {
    const stream =
      kind === 'file'
        ? createReadStream(source, { highWaterMark: readSize })
        : kind === 'pipe'
          ? await openPipe(source)
          : (options.stdin ?? process.stdin);
    if (signal !== undefined) addAbortSignal(signal, stream);
    for await (const chunk of stream) {
      clearTimeout(waiting);
      bytes += chunk.length;
      if (bytes > maxBytes) throw manifestTooLarge(name, 'the file', maxBytes);
      yield chunk;
    }
  } catch (error) {
    throw readingError(name, error);
  } finally {
    clearTimeout(waiting);
  }
}

/**
 * Opens a pipe without waiting for somebody to write into it: an open that waits would block a thread, and the process
 * could not end.
 */
async function openPipe(path: string): Promise<Readable> {
  const descriptor = await promisify(openCallback)(path, constants.O_RDONLY | constants.O_NONBLOCK);
  return new Socket({ fd: descriptor, readable: true, writable: false });
}
