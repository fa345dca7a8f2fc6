import { CsvError } from 'csv-parse';
import { type Delimiter, delimiters } from '../../base/text/delimiter.ts';
import { excerpt } from '../rows/problem.ts';
import { type CsvHeader, readCsvHeader } from './csv/header.ts';
import { type CellReading, type CsvRecord, findCsvMistake, readCsvRecords, readCsvRows } from './csv/rows.ts';
import { rowsInCell } from './csv/rows-in-cells.ts';
import { readWhole } from './json/document.ts';
import { pathsToRows } from './json/page.ts';
import { ColumnList, readJsonLines, readJsonRows } from './json/rows.ts';
import { identify, type Layout } from './layout.ts';
import {
  defaultClearToken,
  type Manifest,
  type ManifestRow,
  type ReadingOptions,
  type UnnumberedRow,
} from './manifest.ts';
import { syntaxMistake, TextMistake } from './text/mistake.ts';
import { locate, located, type ReadingContext, readText, type TextSource } from './text/source.ts';
import { columnLetters } from './workbook/cell.ts';
import { readSheet } from './workbook/sheet.ts';

export interface OpenOptions extends ReadingOptions {
  /** Default: the path. */
  readonly name?: string;
  /** Report columns (`_code`) to read; only in delimited text and workbooks. */
  readonly keptColumns?: readonly string[];
  /** Default: no operations. */
  readonly context?: ReadingContext;
}

const maxRowsPerChunk = 500;

/** For `columns()` of a JSON manifest. */
const rowsLookedAt = 100;

/**
 * Identifies the format by content, and checks the beginning.
 *
 * @param path a regular file, because it is read several times; see `stageManifest` for other sources
 * @throws CqbatchError (`usage`, codes `MANIFEST_…`) when it is not a manifest
 */
export async function openManifest(path: string, options: OpenOptions = {}): Promise<Manifest> {
  const { source, layout, ...encoded } = await identify(path, options.name ?? path, options.context, options);
  const reader = await located(source, () => openReader(source, layout, options));
  const rows = () => numberRows(source, reader.rows(readText(source)));
  const { readable, sample } = await lookAtFirstRows(rows());
  return {
    name: source.name,
    format: layout.format,
    ...('delimiter' in layout && { delimiter: layout.delimiter }),
    ...('facts' in layout && layout.facts),
    ...encoded,
    encoding: source.encoding,
    columns: () => reader.columns(),
    readable,
    sample,
    ...nestedRowsOf(sample),
    ...reader.workbook,
    rows,
  };
}

/** A fixed number of rows, so that conclusions do not depend on chunks. Continues while no row is readable. */
async function lookAtFirstRows(
  chunks: AsyncIterable<readonly ManifestRow[]>,
): Promise<Pick<Manifest, 'readable' | 'sample'>> {
  let rows = 0;
  const sample: ManifestRow['cells'][] = [];
  for await (const chunk of chunks) {
    rows += chunk.length;
    for (const { cells, problem } of chunk)
      if (problem === undefined && sample.length < rowsLookedAt) sample.push(cells);
    if (rows >= rowsLookedAt && sample.length > 0) break;
  }
  return { readable: sample.length > 0, sample };
}

/** For pages of an API's answer, as in `{"data":[{…},{…}]}` on one line. */
function nestedRowsOf(sample: Manifest['sample']): Pick<Manifest, 'nestedRows'> {
  const [path, ...others] = new Set(sample.map((cells) => pathsToRows(cells).join()));
  if (path === undefined || path === '' || path.includes(',') || others.length > 0) return {};
  return { nestedRows: { path, isRepeated: sample.length > 1 } };
}

/** From 1. */
async function* numberRows(
  source: TextSource,
  batches: AsyncIterable<readonly UnnumberedRow[]>,
): AsyncGenerator<readonly ManifestRow[], void, undefined> {
  let row = 0;
  try {
    for await (const batch of batches) {
      for (let start = 0; start < batch.length; start += maxRowsPerChunk) {
        yield batch.slice(start, start + maxRowsPerChunk).map((each) => ({ row: ++row, ...each }));
      }
    }
  } catch (error) {
    throw await locate(source, error);
  }
}

interface RowReader {
  columns(): readonly string[];
  readonly workbook?: Pick<Manifest, 'sheet' | 'lettersOf'>;
  /** A format that is held in memory ignores the text. */
  rows(text: AsyncIterable<Buffer>): AsyncIterable<readonly UnnumberedRow[]>;
}

/** @throws CqbatchError (`usage`) or TextMistake when delimited text has no valid header */
async function openReader(source: TextSource, layout: Layout, options: OpenOptions): Promise<RowReader> {
  const { clearToken = defaultClearToken, trim = false, trustQuotes, keptColumns } = options;
  if ('delimiter' in layout) {
    const reading = { clearToken, trim, rowDelimiters: trustQuotes ? [] : [layout.delimiter] };
    const records = (text: AsyncIterable<Buffer>) => readDelimited(source, text, layout.delimiter);
    const header = await readHeader(source, records(readText(source)), reading, keptColumns);
    return {
      columns: () => header.names,
      rows: (text) => readCsvRows(records(text), header, reading),
    };
  }
  if (layout.format === 'xlsx') return openWorkbook(source, options);
  const columns = new ColumnList(source.name);
  if (layout.format === 'jsonl')
    return { columns: () => columns.names, rows: (text) => readJsonLines(text, columns, trim) };
  const bytes = layout.outer === 'object' ? layout.bytes : await readWhole(readText(source));
  const document = {
    outer: layout.outer,
    path: 'path' in layout ? layout.path : undefined,
    offset: source.start,
  };
  return {
    columns: () => columns.names,
    rows: () => readJsonRows(bytes, document, columns, trim),
  };
}

async function openWorkbook(source: TextSource, options: OpenOptions): Promise<RowReader> {
  const { clearToken = defaultClearToken, trim = false, trustQuotes, keptColumns } = options;
  const { skipLines = 0, sheet: wanted } = options;
  const reading = { clearToken, trim, rowDelimiters: trustQuotes ? [] : delimiters };
  const { name, others, records, hidden, hiddenColumns } = await readSheet(source, {
    wanted,
    skipLines,
    hidden: options.hidden,
  });
  const [first] = records;
  if (first === undefined) {
    const problem = `the sheet "${excerpt(name)}" has no rows${skipLines > 0 ? ' below the skipped lines' : ''}`;
    throw new TextMistake('MANIFEST_EMPTY', undefined, `${problem}; choose another sheet with --sheet`);
  }
  const header = readCsvHeader(first, source.name, clearToken, keptColumns);
  const indexOf = (column: string): number => header.indexes[header.names.indexOf(column)] ?? -1;
  const lettersOf = (column: string): string | undefined => {
    const index = indexOf(column);
    return index < 0 ? undefined : columnLetters(index);
  };
  const hiddenNames = header.names.filter((column) => hiddenColumns.has(indexOf(column)));
  return {
    columns: () => header.names,
    workbook: { sheet: { name, others, hidden, hiddenColumns: hiddenNames }, lettersOf },
    rows: () => readCsvRows(batchesOf(records), header, reading),
  };
}

async function* batchesOf(
  records: readonly CsvRecord[],
): AsyncGenerator<readonly CsvRecord[], void, undefined> {
  for (let start = 0; start < records.length; start += maxRowsPerChunk) {
    yield records.slice(start, start + maxRowsPerChunk);
  }
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
