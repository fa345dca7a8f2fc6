import { CsvError } from 'csv-parse';
import type { Delimiter } from './csv/delimiter.ts';
import { type CsvHeader, readCsvHeader } from './csv/header.ts';
import { findCsvMistake } from './csv/mistake.ts';
import { type CsvRecord, readCsvRecords } from './csv/records.ts';
import { readCsvRows } from './csv/rows.ts';
import { ColumnList } from './json/column-list.ts';
import { readJsonLines, readJsonRows } from './json/rows.ts';
import type { Layout } from './layout.ts';
import type { UnnumberedRow } from './row-chunks.ts';
import { TextMistake } from './text/mistake.ts';
import { readText, type TextSource } from './text/source.ts';

/** Reads the rows of one manifest, whatever its format. */
export interface RowReader {
  /** See `Manifest.columns`. */
  columns(): readonly string[];
  /** Rows of the text, which is that of the reader's source. */
  rows(text: AsyncIterable<Buffer>): AsyncIterable<readonly UnnumberedRow[]>;
}

export interface ReaderOptions {
  readonly clearToken: string;
  /** Largest record in bytes. */
  readonly limit: number;
}

/**
 * Makes the reader for a layout.
 *
 * @throws CqbatchError (`usage`) or TextMistake when delimited text has no good header.
 */
export async function openReader(
  source: TextSource,
  layout: Layout,
  { clearToken, limit }: ReaderOptions,
): Promise<RowReader> {
  if (layout.kind === 'delimited') {
    const records = (text: AsyncIterable<Buffer>) => readDelimited(source, text, layout.delimiter, limit);
    const header = await readHeader(source, records(readText(source)), clearToken);
    return { columns: () => header.names, rows: (text) => readCsvRows(records(text), header, clearToken) };
  }
  const columns = new ColumnList(source.name);
  const place = { offset: source.bomLength, limit };
  if (layout.kind === 'json-lines') {
    return { columns: () => columns.names, rows: (text) => readJsonLines(text, place, columns) };
  }
  const outer = layout.kind === 'json-array' ? 'array' : 'object';
  return {
    columns: () => columns.names,
    rows: (text) => readJsonRows(text, { layout: outer, ...place }, columns),
  };
}

async function readHeader(
  source: TextSource,
  batches: AsyncIterable<readonly CsvRecord[]>,
  clearToken: string,
): Promise<CsvHeader> {
  for await (const [first] of batches) {
    if (first !== undefined) return readCsvHeader(first, source.name, clearToken);
  }
  throw new TextMistake('MANIFEST_NO_HEADER', undefined, 'the file has no header line');
}

/** Records of delimited text; what csv-parse refuses becomes a mistake with its place. */
async function* readDelimited(
  source: TextSource,
  text: AsyncIterable<Buffer>,
  delimiter: Delimiter,
  limit: number,
): AsyncGenerator<readonly CsvRecord[], void, undefined> {
  try {
    yield* readCsvRecords(text, delimiter, limit);
  } catch (error) {
    if (!(error instanceof CsvError)) throw error;
    const mistake = await findCsvMistake(readText(source), delimiter);
    throw mistake ?? new TextMistake('MANIFEST_SYNTAX', undefined, error.message);
  }
}
