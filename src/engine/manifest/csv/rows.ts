import { Parser } from 'csv-parse';
import { isBlank } from '../../../base/text/blank.ts';
import { sameTextAs } from '../../../base/text/composed.ts';
import type { Delimiter } from '../../../base/text/delimiter.ts';
import { unguardCell } from '../../../base/text/formula-guard.ts';
import { footerProblem, isFooter } from '../../../base/text/no-value.ts';
import { excerpt, type RowProblem } from '../../rows/problem.ts';
import { Cells, type UnnumberedRow } from '../manifest.ts';
import {
  isLineEnd,
  maxRecordBytes,
  type Position,
  PositionCounter,
  syntaxMistake,
  TextMistake,
} from '../text/mistake.ts';
import type { CsvHeader } from './header.ts';
import { rowsInCell } from './rows-in-cells.ts';

export interface CsvRecord {
  readonly cells: readonly string[];
  /** The first line of the record, from 1; line ends inside quotes count. */
  readonly line: number;
  /** Why cells of a sheet can't be trusted, by the index of the cell. */
  readonly problems?: ReadonlyMap<number, string>;
}

/**
 * Splits delimited text (RFC 4180, with line ends LF, CR LF or CR), one array per chunk. Leaves out blank lines, which may have blanks and
 * delimiters.
 *
 * @throws TextMistake (`MANIFEST_RECORD_TOO_LARGE`), checked once per chunk, or the CsvError of csv-parse for invalid quotes
 */
export async function* readCsvRecords(
  chunks: AsyncIterable<Buffer>,
  delimiter: Delimiter,
  firstLine = 1,
): AsyncGenerator<readonly CsvRecord[], void, undefined> {
  const parser = new RecordParser(delimiter, firstLine);
  // Errors of the parser are reported by the callbacks of `write` and `end`.
  parser.on('error', () => {});
  let pendingBytes = 0;
  try {
    for await (const chunk of chunks) {
      const lineBefore = parser.line;
      await settledWork((done) => parser.write(chunk, done));
      pendingBytes = parser.line === lineBefore ? pendingBytes + chunk.length : 0;
      if (pendingBytes > maxRecordBytes) throw tooLarge(parser.line);
      const records = parser.takeRecords();
      if (records.length > 0) yield records;
    }
    await settledWork((done) => {
      parser.once('error', done);
      parser.end(done);
    });
    const records = parser.takeRecords();
    if (records.length > 0) yield records;
  } finally {
    parser.destroy();
  }
}

/** Collects records itself: csv-parse's own buffer would hide how many blank lines precede a record, and be slower. */
class RecordParser extends Parser {
  #records: CsvRecord[] = [];
  #recordLines = 0;
  readonly #firstLine: number;

  constructor(delimiter: Delimiter, firstLine: number) {
    super({
      delimiter,
      record_delimiter: ['\r\n', '\n', '\r'],
      // Records may have any number of cells: each row reports a wrong number.
      relax_column_count: true,
      skip_empty_lines: true,
    });
    this.#firstLine = firstLine;
  }

  /** The line of the incomplete record. It is counted here, because csv-parse counts CR LF inside quotes twice. */
  get line(): number {
    return this.#firstLine + this.#recordLines + this.info.empty_lines;
  }

  override push(cells: readonly string[] | null): boolean {
    if (cells === null) return super.push(null);
    if (!cells.every(isBlank)) this.#records.push({ cells, line: this.line });
    this.#recordLines += 1 + countLineBreaks(cells);
    // Each record counts as the first: csv-parse would create an error for each deviating number of cells of later records, which takes
    // minutes for millions.
    (this.info as { records: number }).records = 0;
    return true;
  }

  takeRecords(): readonly CsvRecord[] {
    const records = this.#records;
    this.#records = [];
    return records;
  }
}

function countLineBreaks(cells: readonly string[]): number {
  let count = 0;
  for (const cell of cells) {
    if (cell.includes('\n') || cell.includes('\r')) count += cell.match(/\r\n|\n|\r/g)?.length ?? 0;
  }
  return count;
}

function tooLarge(line: number): TextMistake {
  const problem = `the record that begins here is larger than ${maxRecordBytes} bytes; is a quote never closed?`;
  return new TextMistake('MANIFEST_RECORD_TOO_LARGE', { line, column: 1 }, problem);
}

function settledWork(work: (done: (error?: Error | null) => void) => void): Promise<void> {
  return new Promise((resolve, reject) => work((error) => (error ? reject(error) : resolve())));
}

export interface CellReading {
  readonly clearToken: string;
  readonly trim: boolean;
  /** The delimiters of lines in a cell that look like rows. None if all texts are meant. See `rows-in-cells.ts`. */
  readonly rowDelimiters: readonly Delimiter[];
}

/** Reads rows of CSV: without empty cells, with the empty string for a clear token, and with the guard taken off guarded rows. */
export async function* readCsvRows(
  batches: AsyncIterable<readonly CsvRecord[]>,
  header: CsvHeader,
  reading: CellReading,
): AsyncGenerator<readonly UnnumberedRow[], void, undefined> {
  let isFirst = true;
  for await (const records of batches) {
    const rows = (isFirst ? records.slice(1) : records).map((record) => csvRow(record, header, reading));
    isFirst = false;
    yield rows;
  }
}

function csvRow(
  record: CsvRecord,
  header: CsvHeader,
  { clearToken, trim, rowDelimiters }: CellReading,
): UnnumberedRow {
  const { cells: values, line, problems } = record;
  const { names, indexes, width, guardedIndex, commas } = header;
  const guarded = guardedIndex >= 0 && values[guardedIndex] === 'yes';
  const cells = new Cells();
  const isToken = sameTextAs(trim ? clearToken.trim() : clearToken);
  for (let column = 0; column < names.length; column++) {
    const raw = values[indexes[column] as number];
    if (raw === undefined || raw === '') continue;
    const name = names[column] as string;
    if (isToken(trim ? raw.trim() : raw)) {
      cells[name] = '';
      continue;
    }
    const text = guarded ? unguardCell(raw, { clearToken, commas }) : raw;
    const value = trim ? text.trim() : text;
    if (value !== '') cells[name] = value;
  }
  const problem =
    values.length === width
      ? (rowsInCell(record, header, rowDelimiters) ?? strayText(header, values))
      : wrongWidth(header, values);
  const row = problem === undefined ? { line, cells } : { line, cells, problem };
  return problems === undefined ? row : { ...row, cellProblems: byColumn(problems, header) };
}

function byColumn(
  problems: ReadonlyMap<number, string>,
  { names, indexes }: CsvHeader,
): Readonly<Record<string, string>> {
  const found: Record<string, string> = {};
  for (const [column, name] of names.entries()) {
    const problem = problems.get(indexes[column] as number);
    if (problem !== undefined) found[name] = problem;
  }
  return found;
}

function wrongWidth({ width }: CsvHeader, values: readonly string[]): RowProblem {
  const problem = `has ${values.length === 1 ? '1 cell' : `${values.length} cells`}, the header has ${width}`;
  if (isFooter(values[0] ?? '')) return { problem: footerProblem, value: excerpt(values[0]) };
  if (values.length < width) return { problem: `${problem}; is the line cut off?` };
  return {
    problem: `${problem}; a cell that contains the delimiter must be in quotes`,
    value: excerpt(values[width]),
  };
}

function strayText({ unnamedColumns }: CsvHeader, values: readonly string[]): RowProblem | undefined {
  for (const index of unnamedColumns) {
    if (values[index] !== '') {
      return {
        problem: `text in column ${index + 1}, which has no name; name the column or clear the cell`,
        value: excerpt(values[index]),
      };
    }
  }
  return undefined;
}

/** Finds the quote that violates RFC 4180, section 2, rules 5 to 7: the parser does not report where the cell to fix began. */
export async function findCsvMistake(
  chunks: AsyncIterable<Buffer>,
  delimiter: Delimiter,
  firstLine = 1,
): Promise<TextMistake | undefined> {
  const delimiterByte = delimiter.charCodeAt(0);
  const counter = new PositionCounter(firstLine);
  let state: 'cell-start' | 'plain' | 'quoted' | 'after-quote' = 'cell-start';
  let opening: Position = counter.position;
  /** Whether the cell is only an equals sign so far. */
  let isMark = false;
  for await (const chunk of chunks) {
    for (const byte of chunk) {
      if (state === 'quoted') {
        if (byte === quote) state = 'after-quote';
      } else if (byte === quote) {
        if (state === 'plain') return syntaxMistake(counter.position, isMark ? textMark : quoteInsideCell);
        if (state === 'cell-start') opening = counter.position;
        state = 'quoted';
      } else if (byte === delimiterByte || isLineEnd(byte)) {
        state = 'cell-start';
      } else if (state === 'after-quote') {
        return syntaxMistake(counter.position, textAfterQuote(opening.line));
      } else {
        isMark = state === 'cell-start' && byte === equalsSign;
        state = 'plain';
      }
      counter.advance(byte);
    }
  }
  return state === 'quoted' ? syntaxMistake(opening, 'this quote is never closed') : undefined;
}

const textMark =
  'this cell has a spreadsheet\'s text mark; write only what is between the quotes, 123 in place of ="123"';

const quoteInsideCell =
  'quote inside a cell that is not quoted; put the whole cell in quotes and double the quotes inside';

function textAfterQuote(openingLine: number): string {
  return (
    `text after the closing quote of a cell whose quote opened on line ${openingLine}; ` +
    'close it where the cell ends, and double the quotes inside'
  );
}

const quote = 0x22;
const equalsSign = 0x3d;
