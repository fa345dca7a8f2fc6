import { createHash } from 'node:crypto';
import { constants, createReadStream, open as openCallback } from 'node:fs';
import { open, rename } from 'node:fs/promises';
import { Socket } from 'node:net';
import { join } from 'node:path';
import { addAbortSignal, type Readable } from 'node:stream';
import { promisify } from 'node:util';
import { isMainThread } from 'node:worker_threads';
import { removeIfPossible } from '../../base/disk/files.ts';
import type { Digest } from '../../base/disk/hash-file.ts';
import { readFileParts } from '../../base/disk/open-file.ts';
import { usageError } from '../../base/errors/errors.ts';
import { onDisk } from '../../base/errors/system-error.ts';
import { escapeInvisible } from '../../base/text/printable.ts';
import { identify } from './identify.ts';
import type { ReadingOptions } from './manifest.ts';
import { manifestTooLarge, readingError } from './text/mistake.ts';
import { type InputKind, inputKind, type ReadingContext, readSize } from './text/source.ts';

/** A copy of a manifest. Its digest proves that what was reviewed is what runs. */
export interface StagedManifest extends Digest {
  /** The path of the copy, with a name by its format: `manifest.csv`, with `.gz` when gzipped. */
  readonly path: string;
  /** The name of the manifest as given, its path, or `<stdin>`. */
  readonly name: string;
}

/**
 * Copies a manifest byte for byte into a folder. Reads the source once, so it may be a pipe. The copy is synced, and readable only by its
 * owner.
 *
 * @param source a path, or `-` for standard input
 * @param name for messages, if not the path
 * @throws CqbatchError (`usage`, codes `MANIFEST_…`) when the source cannot be read or is not a manifest; leaves nothing behind
 */
export async function stageManifest(
  source: string,
  intoDir: string,
  options: InputOptions = {},
  reading: ReadingOptions = {},
  name = source === '-' ? '<stdin>' : source,
): Promise<StagedManifest> {
  const arriving = join(intoDir, 'manifest.arriving');
  try {
    const copied = await copy(readInput(source, name, options), arriving);
    if (options.sha256 !== undefined && options.sha256 !== copied.sha256)
      throw usageError(
        'MANIFEST_CHANGED',
        `${escapeInvisible(name)} was replaced after it was received, so nothing of it is sent: hand it in again.`,
      );
    const { source: text, format } = await identify(arriving, name, options, reading);
    const path = join(intoDir, `manifest.${format.name}${text.gzip ? '.gz' : ''}`);
    await rename(arriving, path);
    return { path, name, ...copied };
  } catch (error) {
    await removeIfPossible(arriving);
    throw error;
  }
}

async function copy(input: AsyncIterable<Buffer>, path: string): Promise<Digest> {
  const file = await onDisk(path, () => open(path, 'wx', 0o600));
  try {
    const copied = await digest(input, (chunk) => onDisk(path, () => file.writeFile(chunk)));
    await onDisk(path, () => file.sync());
    return copied;
  } finally {
    await file.close();
  }
}

async function digest(
  chunks: AsyncIterable<Buffer>,
  take: (chunk: Buffer) => void | Promise<void>,
): Promise<Digest> {
  const hash = createHash('sha256');
  let bytes = 0;
  for await (const chunk of chunks) {
    hash.update(chunk);
    bytes += chunk.length;
    await take(chunk);
  }
  return { sha256: hash.digest('hex'), bytes };
}

export interface InputOptions extends ReadingContext {
  /** The stream for the source `-`. Default: standard input of this process. */
  readonly stdin?: Readable;
  /** Called when a pipe or standard input has given nothing for a second. */
  readonly onWaiting?: (name: string) => void;
  /** The digest that the content of a regular file must have. Default: any content, also of a pipe. */
  readonly sha256?: string;
}

const silentMs = 1_000;

/**
 * Reads the bytes of a file, a named pipe, or standard input (`-`).
 *
 * @throws CqbatchError (`usage`) when the input cannot be read, or is larger than allowed
 */
export async function* readInput(
  source: string,
  name: string,
  options: InputOptions = {},
): AsyncGenerator<Buffer, void, undefined> {
  const { signal, maxBytes = Number.POSITIVE_INFINITY, onWaiting, sha256 } = options;
  const isKnownFile = sha256 !== undefined && source !== '-';
  const kind = source === '-' ? 'stdin' : isKnownFile ? 'file' : await inputKind(source, name, options);
  const waiting = kind === 'file' ? undefined : setTimeout(() => onWaiting?.(name), silentMs);
  let bytes = 0;
  try {
    for await (const chunk of await partsOf(source, kind, options)) {
      signal?.throwIfAborted();
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

async function partsOf(
  source: string,
  kind: InputKind | 'stdin',
  { maxBytes: mostBytes, signal, stdin = process.stdin }: InputOptions,
): Promise<AsyncIterable<Buffer>> {
  if (kind === 'file')
    return readFileParts(source, { partBytes: readSize, ...(mostBytes !== undefined && { mostBytes }) });
  const stream = kind === 'pipe' ? await openPipe(source) : stdin;
  return signal === undefined ? stream : addAbortSignal(signal, stream);
}

/**
 * Opens a pipe without waiting for a writer, which would block a thread, and keep the process from ending. In a worker thread, it waits:
 * when such a thread ends, Node closes each descriptor that `open` gave and `close` did not get, even if it belongs to another file by
 * then.
 */
async function openPipe(path: string): Promise<Readable> {
  if (!isMainThread) return createReadStream(path, { highWaterMark: readSize });
  const descriptor = await promisify(openCallback)(path, constants.O_RDONLY | constants.O_NONBLOCK);
  return new Socket({ fd: descriptor, readable: true, writable: false });
}
