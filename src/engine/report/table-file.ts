import { usageError } from '../../base/errors/errors.ts';
import { composed } from '../../base/text/composed.ts';
import { byteOrderMark, csvText, type Delimiter } from '../../base/text/delimiter.ts';
import { cellText, guardColumn, guardFor } from '../../base/text/formula-guard.ts';
import { jsonLine } from '../../base/text/json.ts';
import { escapedCell, mostCharacters, mostSheetRows, textWorkbook } from './text-workbook.ts';

/** A table that becomes a manifest: an empty text is an empty cell. */
export interface Table {
  readonly columns: readonly string[];
  /** The rows in chunks, each row with a text for each column. */
  readonly rows: AsyncIterable<readonly (readonly string[])[]>;
}

export const tableFormats = ['csv', 'tsv', 'jsonl', 'xlsx'] as const;

export interface TableOptions {
  readonly format: (typeof tableFormats)[number];
  /** The delimiter of CSV. Default: a comma. */
  readonly delimiter?: Delimiter | undefined;
  /** The text that manifests read as the empty text. */
  readonly clearToken: string;
  /** Whether Excel opens the file. */
  readonly forExcel: boolean;
}

/**
 * The content of a file that reads back as the same rows without an option.
 *
 * @throws a usage error `WORKBOOK_UNFIT` for what a workbook can't hold
 */
export async function tableContent(
  table: Table,
  options: TableOptions,
): Promise<AsyncIterable<string | Uint8Array>> {
  switch (options.format) {
    case 'csv':
      return delimitedText(table, options.delimiter ?? ',', options);
    case 'tsv':
      return delimitedText(table, '\t', options);
    case 'jsonl':
      return jsonLines(table);
    case 'xlsx':
      return withoutZipError(
        await textWorkbook({
          name: 'rows',
          header: table.columns,
          rows: sheetRows(table, options.clearToken),
          zip64: false,
        }),
      );
  }
}

async function* delimitedText(
  { columns, rows }: Table,
  delimiter: Delimiter,
  { clearToken, forExcel }: TableOptions,
): AsyncGenerator<string> {
  const guard = guardFor(delimiter);
  const titles = csvText([[...columns, guardColumn(delimiter)]], delimiter);
  let head = (forExcel ? byteOrderMark : '') + titles;
  for await (const chunk of rows) {
    const cells = chunk.map((row) => row.map((text) => cellText(text || undefined, clearToken, guard)));
    yield head +
      csvText(
        cells.map((each) => [...each, 'yes']),
        delimiter,
      );
    head = '';
  }
  yield head;
}

async function* jsonLines({ columns, rows }: Table): AsyncGenerator<string> {
  for await (const chunk of rows) {
    const lines = chunk.map((row) => {
      const members = columns.map((column, index) => [column, row[index] || null] as const);
      return jsonLine(Object.fromEntries(members));
    });
    yield lines.join('');
  }
}

async function* sheetRows({ columns, rows }: Table, clearToken: string): AsyncGenerator<string[]> {
  let count = 1;
  for await (const chunk of rows) {
    for (const row of chunk) {
      count++;
      if (count > mostSheetRows)
        throw workbookUnfit('There are more rows than the 1,048,575 of an Excel sheet');
      const clearing = row.findIndex((text) => composed(text) === composed(clearToken));
      if (clearing >= 0)
        throw workbookUnfit(
          `There is a ${columns[clearing]} "${clearToken}", which means empty in a workbook`,
        );
      const texts = row.map(escapedCell);
      const long = texts.findIndex((text) => text.length > mostCharacters);
      if (long >= 0)
        throw workbookUnfit(
          `There is a ${columns[long]} with more than the 32,767 characters of an Excel cell`,
        );
      yield texts;
    }
  }
}

async function* withoutZipError(bytes: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  try {
    yield* bytes;
  } catch (error) {
    throw (error as Error).name === 'ZipError' ? workbookUnfit('There is more than 4 GB of text') : error;
  }
}

function workbookUnfit(what: string): Error {
  return usageError('WORKBOOK_UNFIT', `${what}: choose a name that ends with .csv, .tsv or .jsonl.`);
}
