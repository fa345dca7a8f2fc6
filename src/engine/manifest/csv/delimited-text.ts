import { CsvError } from 'csv-parse';
import type { Delimiter } from '../../../base/text/delimiter.ts';
import { defaultClearToken } from '../manifest.ts';
import type { OpenOptions, RowReader, TextBeginning } from '../manifest-format.ts';
import { syntaxMistake, TextMistake } from '../text/mistake.ts';
import { readText, type TextSource } from '../text/source.ts';
import { delimiterIn, refuseTitle } from './beginning.ts';
import { type CsvHeader, readCsvHeader } from './header.ts';
import { type CellReading, type CsvRecord, findCsvMistake, readCsvRecords, readCsvRows } from './rows.ts';
import { rowsInCell } from './rows-in-cells.ts';

/** Opens delimited text. @throws CqbatchError (`usage`) or TextMistake when the text has no valid header */
export async function openDelimited(beginning: TextBeginning, options: OpenOptions): Promise<RowReader> {
  const { clearToken = defaultClearToken, trim = false, trustQuotes, keptColumns, skipLines = 0 } = options;
  const { source } = beginning;
  refuseTitle(beginning, skipLines);
  const delimiter = delimiterIn(beginning);
  const reading = { clearToken, trim, rowDelimiters: trustQuotes ? [] : [delimiter] };
  const records = (text: AsyncIterable<Buffer>) => readDelimited(source, text, delimiter);
  const header = await readHeader(source, records(readText(source)), reading, keptColumns);
  return {
    facts: { delimiter },
    columns: () => header.names,
    rows: (text) => readCsvRows(records(text), header, reading),
  };
}

async function readHeader(
  source: TextSource,
  batches: AsyncIterable<readonly CsvRecord[]>,
  { clearToken, rowDelimiters }: CellReading,
  keptColumns: readonly string[] | undefined,
): Promise<CsvHeader> {
  for await (const [first] of batches) {
    if (first === undefined) continue;
    const header = readCsvHeader(first, source.name, clearToken, keptColumns);
    const mistake = rowsInCell(first, header, rowDelimiters);
    if (mistake === undefined) return header;
    const { problem, value } = mistake;
    throw syntaxMistake({ line: first.line, column: 1 }, `a column name ${problem} (${value})`);
  }
  throw new TextMistake('MANIFEST_NO_HEADER', undefined, 'the file has no header line; add the column names');
}

async function* readDelimited(
  source: TextSource,
  text: AsyncIterable<Buffer>,
  delimiter: Delimiter,
): AsyncGenerator<readonly CsvRecord[], void, undefined> {
  try {
    yield* readCsvRecords(text, delimiter, source.firstLine);
  } catch (error) {
    if (!(error instanceof CsvError)) throw error;
    const mistake = await findCsvMistake(readText(source), delimiter, source.firstLine);
    throw mistake ?? syntaxMistake(undefined, error.message);
  }
}
