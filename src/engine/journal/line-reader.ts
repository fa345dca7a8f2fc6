import type { FileHandle } from 'node:fs/promises';
import { lineEnd } from './line.ts';

const chunkSize = 1 << 16;

/** Reads lines by their offsets, best in ascending order: the last chunk is kept. */
export class LineReader {
  readonly #handle: FileHandle;
  readonly #end: number;
  #start = 0;
  #chunk = Buffer.alloc(0);

  /** @param end the offset from which bytes may change */
  constructor(handle: FileHandle, end: number) {
    this.#handle = handle;
    this.#end = end;
  }

  /** Returns the line without its end; undefined when the file ends first. */
  async lineAt(offset: number): Promise<string | undefined> {
    let line = this.#lineInChunk(offset);
    for (let size = chunkSize, read = 0; line === undefined; size *= 2) {
      await this.#read(offset, Math.min(size, this.#end - offset));
      if (this.#chunk.length <= read) return undefined;
      read = this.#chunk.length;
      line = this.#lineInChunk(offset);
    }
    return line;
  }

  #lineInChunk(offset: number): string | undefined {
    const from = offset - this.#start;
    const to = from < 0 ? -1 : this.#chunk.indexOf(lineEnd, from);
    return to < 0 ? undefined : this.#chunk.toString('utf8', from, to);
  }

  async #read(offset: number, size: number): Promise<void> {
    const bytes = Buffer.allocUnsafe(Math.max(0, size));
    const { bytesRead } = await this.#handle.read(bytes, 0, bytes.length, offset);
    [this.#start, this.#chunk] = [offset, bytes.subarray(0, bytesRead)];
  }
}
