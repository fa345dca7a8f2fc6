import { Parser } from 'csv-parse';
import { TextMistake } from '../text/mistake.ts';
import type { Delimiter } from './delimiter.ts';

/** A record of delimited text: its cells, and the line on which it begins. */
export interface CsvRecord {
  readonly cells: readonly string[];
  /** From 1. */
  readonly line: number;
}

/**
 * Splits delimited text (RFC 4180, with any of LF, CR LF and CR as line ends) into records, blank lines left out;
 * one array for each chunk of text.
 *
 * @param limit bytes of a record; the check happens once a chunk.
 * @throws TextMistake (`MANIFEST_RECORD_TOO_LARGE`), or the CsvError of csv-parse when the quotes are not right.
 */
export async function* readCsvRecords(
  chunks: AsyncIterable<Buffer>,
  delimiter: Delimiter,
  limit: number,
): AsyncGenerator<readonly CsvRecord[], void, undefined> {
  const parser = new Parser({
    delimiter,
    record_delimiter: ['\r\n', '\n', '\r'],
    relax_column_count: true,
  });
  // Errors come by the callbacks of write and end.
  parser.on('error', () => {});
  let line = 1;
  const drain = (): readonly CsvRecord[] => {
    const records: CsvRecord[] = [];
    for (let cells = readRecord(parser); cells !== null; cells = readRecord(parser)) {
      if (!isBlank(cells)) records.push({ cells, line });
      line += 1 + countLineBreaks(cells);
    }
    return records;
  };
  let pendingBytes = 0;
  try {
    for await (const chunk of chunks) {
      // Reading at once is both faster than events and what lets a full parser finish its write.
      const written = new Promise<void>((resolve, reject) => {
        parser.write(chunk, (error) => (error ? reject(error) : resolve()));
      });
      const lineBefore = line;
      const records = drain();
      await written;
      pendingBytes = line === lineBefore ? pendingBytes + chunk.length : 0;
      if (pendingBytes > limit) throw tooLarge(line, limit);
      if (records.length > 0) yield records;
    }
    await new Promise<void>((resolve, reject) => {
      parser.once('error', reject);
      parser.end(resolve);
    });
    const records = drain();
    if (records.length > 0) yield records;
  } finally {
    parser.destroy();
  }
}

function readRecord(parser: Parser): readonly string[] | null {
  return parser.read();
}

function tooLarge(line: number, limit: number): TextMistake {
  const problem = `the record that begins here is larger than ${limit} bytes; is a quote never closed?`;
  return new TextMistake('MANIFEST_RECORD_TOO_LARGE', { line, column: 1 }, problem);
}

function isBlank(cells: readonly string[]): boolean {
  return cells.length === 1 && cells[0] === '';
}

/** Line breaks inside the cells of one record; they are there only when the cells were quoted. */
function countLineBreaks(cells: readonly string[]): number {
  let count = 0;
  for (const cell of cells) {
    if (cell.includes('\n') || cell.includes('\r')) count += cell.match(/\r\n|\n|\r/g)?.length ?? 0;
  }
  return count;
}
