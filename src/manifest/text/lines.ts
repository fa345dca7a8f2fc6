import { isLineEnd } from './line-counter.ts';
import { TextMistake } from './mistake.ts';

/** A line of text without its line end. */
export interface TextLine {
  readonly text: string;
  /** From 1. */
  readonly line: number;
}

/**
 * Splits text at LF, CR LF and CR and leaves out blank lines; one array for each chunk.
 *
 * @throws TextMistake (`MANIFEST_RECORD_TOO_LARGE`) for a line of more than `limit` bytes.
 */
export async function* splitLines(
  chunks: AsyncIterable<Buffer>,
  { offset: baseOffset, limit }: { readonly offset: number; readonly limit: number },
): AsyncGenerator<readonly TextLine[], void, undefined> {
  let parts: Buffer[] = [];
  let partsLength = 0;
  let line = 1;
  let offset = baseOffset;
  let afterCarriageReturn = false;
  const keep = (part: Buffer): void => {
    parts.push(part);
    partsLength += part.length;
    if (partsLength > limit) {
      const start = offset - partsLength;
      throw new TextMistake('MANIFEST_RECORD_TOO_LARGE', start, `this line is larger than ${limit} bytes`);
    }
  };
  const take = (lines: TextLine[]): void => {
    const text = (parts.length === 1 ? (parts[0] as Buffer) : Buffer.concat(parts)).toString('utf8');
    if (/\S/.test(text)) lines.push({ text, line });
    parts = [];
    partsLength = 0;
  };
  for await (const chunk of chunks) {
    const lines: TextLine[] = [];
    let start = 0;
    for (let end = nextLineEnd(chunk, 0); end < chunk.length; end = nextLineEnd(chunk, start)) {
      const isSecondHalf =
        afterCarriageReturn && chunk[end] === lineFeed && end === start && partsLength === 0;
      if (!isSecondHalf) {
        offset += end - start;
        keep(chunk.subarray(start, end));
        take(lines);
        line++;
      }
      afterCarriageReturn = chunk[end] === carriageReturn;
      offset++;
      start = end + 1;
    }
    if (start < chunk.length) {
      offset += chunk.length - start;
      keep(chunk.subarray(start));
    }
    if (lines.length > 0) yield lines;
  }
  const lines: TextLine[] = [];
  take(lines);
  if (lines.length > 0) yield lines;
}

function nextLineEnd(chunk: Buffer, from: number): number {
  for (let index = from; index < chunk.length; index++) {
    if (isLineEnd(chunk[index] as number)) return index;
  }
  return chunk.length;
}

const lineFeed = 0x0a;
const carriageReturn = 0x0d;
