import type { Position } from './mistake.ts';
import { readBytes, type TextSource } from './source.ts';

/** Follows UTF-8 bytes and knows the position of the next one. */
export class PositionCounter {
  #line = 1;
  #column = 1;
  #afterCarriageReturn = false;

  get position(): Position {
    return { line: this.#line, column: this.#column };
  }

  advance(byte: number): void {
    if (byte === lineFeed) {
      if (!this.#afterCarriageReturn) this.#line++;
      this.#column = 1;
    } else if (byte === carriageReturn) {
      this.#line++;
      this.#column = 1;
    } else if ((byte & 0xc0) !== 0x80) {
      this.#column++;
    }
    this.#afterCarriageReturn = byte === carriageReturn;
  }
}

/** The position of a byte, given by its offset after unzipping (byte order mark included). */
export async function positionOf(source: TextSource, offset: number): Promise<Position> {
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

const lineFeed = 0x0a;
const carriageReturn = 0x0d;
