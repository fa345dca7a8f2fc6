/** A place in a text. Lines end with LF, CR LF or CR; columns count characters (code points). Both from 1. */
export interface Position {
  readonly line: number;
  readonly column: number;
}

/** Something by which a text is no manifest; becomes a `usageError` that names file, line and column. */
export class TextMistake extends Error {
  override readonly name = 'TextMistake';
  readonly code: string;
  /**
   * Where it is: a position, or the offset of a byte (after unzipping, byte order mark included); undefined for the
   * file as a whole.
   */
  readonly at: Position | number | undefined;

  constructor(code: string, at: Position | number | undefined, problem: string) {
    super(problem);
    this.code = code;
    this.at = at;
  }
}

/** A mistake by which the text is not of its format. */
export function syntaxMistake(at: Position | number | undefined, problem: string): TextMistake {
  return new TextMistake('MANIFEST_SYNTAX', at, problem);
}

/** Follows UTF-8 bytes and knows the position of the next one. */
export class PositionCounter {
  #line: number;
  #column = 1;
  #lastByte = 0;

  constructor(firstLine = 1) {
    this.#line = firstLine;
  }

  get position(): Position {
    return { line: this.#line, column: this.#column };
  }

  advance(byte: number): void {
    if (isLineEnd(byte)) {
      if (!isSecondHalf(byte, this.#lastByte)) this.#line++;
      this.#column = 1;
    } else if ((byte & 0xc0) !== 0x80) {
      this.#column++;
    }
    this.#lastByte = byte;
  }
}

/** Counts lines of text that comes in chunks. It sees line ends only, so it is faster than a `PositionCounter`. */
export class LineCounter {
  /** Line of the next byte, from 1. */
  line = 1;
  #lastByte = 0;

  /** Counts the line end at this index. */
  count(chunk: Buffer, index: number): void {
    const previous = index === 0 ? this.#lastByte : (chunk[index - 1] as number);
    if (!isSecondHalf(chunk[index] as number, previous)) this.line++;
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

/** Whether a line end is the LF of a CR LF. */
function isSecondHalf(byte: number, previous: number): boolean {
  return byte === lineFeed && previous === carriageReturn;
}

const lineFeed = 0x0a;
const carriageReturn = 0x0d;
