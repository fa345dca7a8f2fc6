import type { FileHandle } from 'node:fs/promises';
import type { RowResult } from '../domain.ts';
import { decodeEntry } from './line.ts';

const blockSize = 1 << 16;
/** Blocks kept at a time: 4 MB. */
const maxBlocks = 64;
const lineEnd = 0x0a;

/**
 * Reads single lines of a journal by their offset. Rows finish nearly in their order, so reading them in their order
 * goes back and forth in few places of the file: the blocks used last are kept.
 */
export class ResultReader {
  readonly #handle: FileHandle;
  readonly #blocks = new Map<number, Buffer>();
  #latest: { readonly number: number; readonly bytes: Buffer } | undefined;

  constructor(handle: FileHandle) {
    this.#handle = handle;
  }

  /**
   * The result whose line begins at `offset`; undefined when there is none. Bytes from `end` on, which may change yet,
   * are not read.
   */
  async read(offset: number, end: number): Promise<RowResult | undefined> {
    const pieces: Buffer[] = [];
    for (let at = offset; at < end; ) {
      const number = Math.floor(at / blockSize);
      const start = at % blockSize;
      // Most lines are in a block that is there: waiting for nothing would cost as much as reading it.
      const block = this.#kept(number, start) ?? (await this.#load(number, end));
      const stop = block.indexOf(lineEnd, start);
      if (stop >= 0) {
        const line = pieces.length === 0 ? block.toString('utf8', start, stop) : joined(pieces, block, stop);
        const entry = decodeEntry(line);
        return entry?.type === 'row' ? entry.result : undefined;
      }
      if (block.length <= start) return undefined;
      pieces.push(block.subarray(start));
      at += block.length - start;
    }
    return undefined;
  }

  /** The block, unless it is not kept or ends before `start`: the file's last block may have grown. */
  #kept(number: number, start: number): Buffer | undefined {
    if (this.#latest?.number === number && this.#latest.bytes.length > start) return this.#latest.bytes;
    const bytes = this.#blocks.get(number);
    if (bytes === undefined || bytes.length <= start) return undefined;
    this.#keep(number, bytes);
    return bytes;
  }

  #keep(number: number, bytes: Buffer): void {
    this.#blocks.delete(number);
    this.#blocks.set(number, bytes);
    this.#latest = { number, bytes };
    const oldest = this.#blocks.size > maxBlocks ? this.#blocks.keys().next().value : undefined;
    if (oldest !== undefined) this.#blocks.delete(oldest);
  }

  async #load(number: number, end: number): Promise<Buffer> {
    const position = number * blockSize;
    const bytes = Buffer.allocUnsafe(Math.min(blockSize, end - position));
    let length = 0;
    while (length < bytes.length) {
      const { bytesRead } = await this.#handle.read(bytes, length, bytes.length - length, position + length);
      if (bytesRead === 0) break;
      length += bytesRead;
    }
    const block = bytes.subarray(0, length);
    this.#keep(number, block);
    return block;
  }
}

/** A line that spans blocks. */
function joined(pieces: readonly Buffer[], last: Buffer, stop: number): string {
  return Buffer.concat([...pieces, last.subarray(0, stop)]).toString();
}
