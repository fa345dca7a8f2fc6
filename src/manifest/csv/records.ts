import { TextMistake } from '../text/mistake.ts';
import type { Delimiter } from './delimiter.ts';

/** A record of delimited text: its cells, and the line on which it begins. */
export interface CsvRecord {
  readonly cells: readonly string[];
  /** From 1. */
  readonly line: number;
}

export interface CsvPlace {
  readonly delimiter: Delimiter;
  /** Offset of the first byte: the length of a byte order mark that has been taken off. */
  readonly offset: number;
  /** Bytes of a record; the check happens once a chunk. */
  readonly limit: number;
}

/**
 * Splits delimited text (RFC 4180, with any of LF, CR LF and CR as line ends) into records, blank lines left out;
 * one array for each chunk of text.
 *
 * @param chunks UTF-8, cut between characters.
 * @throws TextMistake (`MANIFEST_SYNTAX`, `MANIFEST_RECORD_TOO_LARGE`).
 */
export async function* readCsvRecords(
  chunks: AsyncIterable<Buffer>,
  place: CsvPlace,
): AsyncGenerator<readonly CsvRecord[], void, undefined> {
  const splitter = new RecordSplitter(place);
  for await (const chunk of chunks) {
    const records = splitter.push(chunk);
    if (records.length > 0) yield records;
  }
  const records = splitter.end();
  if (records.length > 0) yield records;
}

/**
 * Where in a record the splitter is.
 *
 * - `cell-start`: before the first character of a cell.
 * - `plain`: in a cell without quotes.
 * - `quoted`: behind the quote that opens a cell.
 * - `after-quote`: behind a quote in such a cell, which closes it unless another one follows.
 */
type State = 'cell-start' | 'plain' | 'quoted' | 'after-quote';

class RecordSplitter {
  readonly #delimiter: number;
  readonly #limit: number;
  #state: State = 'cell-start';
  #records: CsvRecord[] = [];
  #cells: string[] = [];
  /** What has been read of the current cell. */
  #cell = '';
  /** Line of the next character outside of quotes. */
  #line = 1;
  #recordLine = 1;
  /** Index in the chunk at which the record begins; negative when it began in an earlier chunk. */
  #recordStart = 0;
  /** Bytes of the record in earlier chunks. */
  #recordBytes = 0;
  #openingLine = 1;
  /** Index in the chunk of the quote that opens the cell; negative when it was in an earlier chunk. */
  #openingIndex = 0;
  #openingOffset = 0;
  /** Whether a line feed at the beginning of the next chunk belongs to a carriage return. */
  #skipLineFeed = false;
  #text = '';
  /** Offset of the chunk. */
  #offset: number;

  constructor({ delimiter, offset, limit }: CsvPlace) {
    this.#delimiter = delimiter.charCodeAt(0);
    this.#limit = limit;
    this.#offset = offset;
  }

  push(chunk: Buffer): readonly CsvRecord[] {
    this.#records = [];
    this.#text = chunk.toString('utf8');
    this.#recordStart = this.#cells.length === 0 && this.#state === 'cell-start' ? 0 : -1;
    let index = this.#skipLineFeed && this.#text.charCodeAt(0) === lineFeed ? 1 : 0;
    this.#skipLineFeed = false;
    while (index < this.#text.length) index = this.#step(index);
    this.#endChunk(chunk.length);
    return this.#records;
  }

  end(): readonly CsvRecord[] {
    this.#records = [];
    if (this.#state === 'quoted') throw syntax(this.#openingOffset, 'this quote is never closed');
    if (this.#state !== 'cell-start' || this.#cells.length > 0) {
      this.#endCell('');
      this.#endRecord();
    }
    return this.#records;
  }

  /** Reads on from an index; returns the index of what is next. */
  #step(index: number): number {
    const text = this.#text;
    if (this.#state === 'quoted') {
      const end = text.indexOf('"', index);
      this.#cell += text.slice(index, end < 0 ? text.length : end);
      if (end < 0) return text.length;
      this.#state = 'after-quote';
      return end + 1;
    }
    const code = text.charCodeAt(index);
    if (this.#state === 'after-quote') {
      if (code === quote) {
        this.#cell += '"';
        this.#state = 'quoted';
        return index + 1;
      }
      if (!this.#endsCell(code)) throw syntax(this.#offsetOf(index), textAfterQuote(this.#openingLine));
      this.#line += countLineBreaks(this.#cell);
      return this.#finishCell(index, index);
    }
    if (this.#state === 'cell-start') {
      if (code === quote) {
        this.#openingIndex = index;
        this.#openingLine = this.#line;
        this.#state = 'quoted';
        return index + 1;
      }
      // A blank line is passed over without becoming a record: there may be millions of them.
      if (this.#cells.length === 0 && (code === lineFeed || code === carriageReturn)) {
        return this.#endLine(index);
      }
    }
    return this.#plainText(index);
  }

  #plainText(start: number): number {
    const text = this.#text;
    let end = start;
    let code = text.charCodeAt(end);
    // Local and plain: this is the inner loop of reading delimited text.
    const delimiter = this.#delimiter;
    while (end < text.length && code !== delimiter && code !== lineFeed && code !== carriageReturn) {
      if (code === quote) throw syntax(this.#offsetOf(end), quoteInsideCell);
      code = text.charCodeAt(++end);
    }
    if (end < text.length) return this.#finishCell(start, end);
    this.#cell += text.slice(start);
    this.#state = 'plain';
    return end;
  }

  #endsCell(code: number): boolean {
    return code === this.#delimiter || code === lineFeed || code === carriageReturn;
  }

  /** Ends the cell, whose last part stands between the indexes, at the delimiter or line end behind it. */
  #finishCell(start: number, end: number): number {
    this.#endCell(start === end ? '' : this.#text.slice(start, end));
    if (this.#text.charCodeAt(end) === this.#delimiter) return end + 1;
    this.#endRecord();
    return this.#endLine(end);
  }

  #endCell(rest: string): void {
    this.#cells.push(this.#cell === '' ? rest : this.#cell + rest);
    this.#cell = '';
    this.#state = 'cell-start';
  }

  #endRecord(): void {
    const isBlank = this.#cells.length === 1 && this.#cells[0] === '';
    if (!isBlank) this.#records.push({ cells: this.#cells, line: this.#recordLine });
    this.#cells = [];
    this.#recordBytes = 0;
  }

  /** Passes the line end at the index; returns where the next record begins. */
  #endLine(index: number): number {
    let next = index + 1;
    if (this.#text.charCodeAt(index) === carriageReturn) {
      if (next === this.#text.length) this.#skipLineFeed = true;
      else if (this.#text.charCodeAt(next) === lineFeed) next++;
    }
    this.#line++;
    this.#recordLine = this.#line;
    this.#recordStart = next;
    return next;
  }

  #endChunk(length: number): void {
    const begun = this.#state !== 'cell-start' || this.#cells.length > 0;
    if (begun) {
      const bytes = this.#recordStart < 0 ? length : Buffer.byteLength(this.#text.slice(this.#recordStart));
      this.#recordBytes += bytes;
      if (this.#recordBytes > this.#limit) throw tooLarge(this.#recordLine, this.#limit);
    }
    const isQuoted = this.#state === 'quoted' || this.#state === 'after-quote';
    if (isQuoted && this.#openingIndex >= 0) this.#openingOffset = this.#offsetOf(this.#openingIndex);
    this.#openingIndex = -1;
    this.#offset += length;
  }

  #offsetOf(index: number): number {
    return this.#offset + Buffer.byteLength(this.#text.slice(0, index));
  }
}

function countLineBreaks(text: string): number {
  if (!text.includes('\n') && !text.includes('\r')) return 0;
  return text.match(/\r\n|\n|\r/g)?.length ?? 0;
}

function syntax(offset: number, problem: string): TextMistake {
  return new TextMistake('MANIFEST_SYNTAX', offset, problem);
}

const quoteInsideCell =
  'quote inside a cell that does not begin with one; put the whole cell in quotes and double those inside';

function textAfterQuote(openingLine: number): string {
  return (
    `text after the closing quote of a cell whose quote opened on line ${openingLine}; ` +
    'close it where the cell ends, and double the quotes inside'
  );
}

function tooLarge(line: number, limit: number): TextMistake {
  const problem = `the record that begins here is larger than ${limit} bytes; is a quote never closed?`;
  return new TextMistake('MANIFEST_RECORD_TOO_LARGE', { line, column: 1 }, problem);
}

const lineFeed = 0x0a;
const carriageReturn = 0x0d;
const quote = 0x22;
