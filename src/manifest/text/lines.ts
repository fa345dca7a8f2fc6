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
  const counter = new LineCounter();
  let parts: Buffer[] = [];
  let length = 0;
  let chunkOffset = place.offset;
  let lineOffset = place.offset;
  let lines: TextLine[] = [];

  const keep = (chunk: Buffer, start: number, end: number): void => {
    if (start === end) return;
    parts.push(chunk.subarray(start, end));
    length += end - start;
    if (length <= place.limit) return;
    const problem = `this line is larger than ${place.limit} bytes`;
    throw new TextMistake('MANIFEST_RECORD_TOO_LARGE', lineOffset, problem);
  };
  const endLine = (): void => {
    const [first, ...others] = parts;
    if (first === undefined) return;
    const bytes = others.length === 0 ? first : Buffer.concat(parts);
    parts = [];
    length = 0;
    // Decoding a line and looking for more than white space would make millions of blank lines dear.
    if (isBlank(bytes)) return;
    const text = bytes.toString('utf8');
    if (/\S/.test(text)) lines.push({ text, line: counter.line });
  };

  for await (const chunk of chunks) {
    lines = [];
    let start = 0;
    for (let end = lineEnd(chunk, 0); end < chunk.length; end = lineEnd(chunk, start)) {
      keep(chunk, start, end);
      endLine();
      counter.count(chunk, end);
      start = end + 1;
      lineOffset = chunkOffset + start;
    }
    keep(chunk, start, chunk.length);
    counter.endChunk(chunk);
    chunkOffset += chunk.length;
    yield lines;
  }
  lines = [];
  endLine();
  yield lines;
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
