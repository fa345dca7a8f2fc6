/** Counts lines of text that comes in chunks; lines end with LF, CR LF or CR. */
export class LineCounter {
  /** Line of the next byte, from 1. */
  line = 1;
  #lastByte = 0;

  /** Counts the line end at this index. */
  count(chunk: Buffer, index: number): void {
    const previous = index === 0 ? this.#lastByte : chunk[index - 1];
    const isSecondHalf = chunk[index] === lineFeed && previous === carriageReturn;
    if (!isSecondHalf) this.line++;
  }

  /** Must be told when a chunk is done. */
  endChunk(chunk: Buffer): void {
    this.#lastByte = chunk[chunk.length - 1] ?? this.#lastByte;
  }
}

/** LF or CR. */
export function isLineEnd(byte: number): boolean {
  return byte === lineFeed || byte === carriageReturn;
}

const lineFeed = 0x0a;
const carriageReturn = 0x0d;
