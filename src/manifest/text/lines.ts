import { isLineEnd, LineCounter, TextMistake } from './position.ts';

/** A line of text without its line end. */
export interface TextLine {
  readonly text: string;
  /** From 1. */
  readonly line: number;
}

/**
 * Splits text at LF, CR LF and CR and leaves out blank lines; one array for each chunk.
 *
 * @param place offset of the first byte, and the largest line in bytes.
 * @throws TextMistake (`MANIFEST_RECORD_TOO_LARGE`).
 */
export async function* splitLines(
  chunks: AsyncIterable<Buffer>,
  place: { readonly offset: number; readonly limit: number },
): AsyncGenerator<readonly TextLine[], void, undefined> {
  const splitter = new LineSplitter(place.offset, place.limit);
  for await (const chunk of chunks) yield splitter.push(chunk);
  yield splitter.end();
}

class LineSplitter {
  readonly #limit: number;
  readonly #counter = new LineCounter();
  #parts: Buffer[] = [];
  #length = 0;
  /** Offset of the first byte of the current line. */
  #lineOffset: number;
  /** Offset of the current chunk. */
  #offset: number;

  constructor(offset: number, limit: number) {
    this.#limit = limit;
    this.#lineOffset = offset;
    this.#offset = offset;
  }

  push(chunk: Buffer): readonly TextLine[] {
    const lines: TextLine[] = [];
    let start = 0;
    for (let end = lineEnd(chunk, 0); end < chunk.length; end = lineEnd(chunk, start)) {
      this.#keep(chunk, start, end);
      this.#take(lines);
      this.#counter.count(chunk, end);
      start = end + 1;
      this.#lineOffset = this.#offset + start;
    }
    this.#keep(chunk, start, chunk.length);
    this.#counter.endChunk(chunk);
    this.#offset += chunk.length;
    return lines;
  }

  end(): readonly TextLine[] {
    const lines: TextLine[] = [];
    this.#take(lines);
    return lines;
  }

  #keep(chunk: Buffer, start: number, end: number): void {
    if (start === end) return;
    this.#parts.push(chunk.subarray(start, end));
    this.#length += end - start;
    if (this.#length <= this.#limit) return;
    const problem = `this line is larger than ${this.#limit} bytes`;
    throw new TextMistake('MANIFEST_RECORD_TOO_LARGE', this.#lineOffset, problem);
  }

  #take(lines: TextLine[]): void {
    const [first, ...others] = this.#parts;
    if (first === undefined) return;
    const bytes = others.length === 0 ? first : Buffer.concat(this.#parts);
    this.#parts = [];
    this.#length = 0;
    // Decoding a line and looking for more than white space would make millions of blank lines dear.
    if (isBlank(bytes)) return;
    const text = bytes.toString('utf8');
    if (/\S/.test(text)) lines.push({ text, line: this.#counter.line });
  }
}

function lineEnd(chunk: Buffer, from: number): number {
  for (let index = from; index < chunk.length; index++) {
    if (isLineEnd(chunk[index] as number)) return index;
  }
  return chunk.length;
}

/** Whether there are only blanks and tabs. */
function isBlank(bytes: Buffer): boolean {
  for (const byte of bytes) if (byte !== 0x20 && byte !== 0x09) return false;
  return true;
}
