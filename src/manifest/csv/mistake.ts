import { type Position, TextMistake } from '../text/mistake.ts';
import { PositionCounter } from '../text/position.ts';
import type { Delimiter } from './delimiter.ts';

/**
 * Finds the quote that breaks the rules of delimited text (RFC 4180, section 2, rules 5 to 7). For text that the
 * parser has refused: it does not tell where the cell began, which is what has to be mended.
 */
export async function findCsvMistake(
  chunks: AsyncIterable<Buffer>,
  delimiter: Delimiter,
): Promise<TextMistake | undefined> {
  const delimiterByte = delimiter.charCodeAt(0);
  const counter = new PositionCounter();
  let state: 'cell-start' | 'plain' | 'quoted' | 'after-quote' = 'cell-start';
  let opening: Position = counter.position;
  for await (const chunk of chunks) {
    for (const byte of chunk) {
      const isEnd = byte === delimiterByte || byte === lineFeed || byte === carriageReturn;
      if (state === 'quoted') {
        if (byte === quote) state = 'after-quote';
      } else if (byte === quote) {
        if (state === 'plain') return syntax(counter.position, quoteInsideCell);
        if (state === 'cell-start') opening = counter.position;
        state = 'quoted';
      } else if (isEnd) {
        state = 'cell-start';
      } else if (state === 'after-quote') {
        return syntax(counter.position, textAfterQuote(opening.line));
      } else {
        state = 'plain';
      }
      counter.advance(byte);
    }
  }
  return state === 'quoted' ? syntax(opening, 'this quote is never closed') : undefined;
}

function syntax(position: Position, problem: string): TextMistake {
  return new TextMistake('MANIFEST_SYNTAX', position, problem);
}

const quoteInsideCell =
  'quote inside a cell that does not begin with one; put the whole cell in quotes and double those inside';

function textAfterQuote(openingLine: number): string {
  return (
    `text after the closing quote of a cell whose quote opened on line ${openingLine}; ` +
    'close it where the cell ends, and double the quotes inside'
  );
}

const lineFeed = 0x0a;
const carriageReturn = 0x0d;
const quote = 0x22;
