import { delimiters } from '../../../base/text/delimiter.ts';
import { excerpt } from '../../rows/problem.ts';
import { readCsvHeader } from '../csv/header.ts';
import { type CsvRecord, readCsvRows } from '../csv/rows.ts';
import { defaultClearToken } from '../manifest.ts';
import type { OpenOptions, RowReader } from '../manifest-format.ts';
import { TextMistake } from '../text/mistake.ts';
import type { TextSource } from '../text/source.ts';
import { columnLetters } from './cell.ts';
import { readSheet } from './sheet.ts';

const maxRowsPerBatch = 500;

/** Opens a workbook. @throws CqbatchError (`usage`) or TextMistake when the sheet has no valid header, and errors of `readSheet` */
export async function openWorkbook(source: TextSource, options: OpenOptions): Promise<RowReader> {
  const { clearToken = defaultClearToken, trim = false, trustQuotes, keptColumns } = options;
  const { skipLines = 0, sheet: wanted } = options;
  const reading = { clearToken, trim, rowDelimiters: trustQuotes ? [] : delimiters };
  const { name, otherSheets, records, hidden, hiddenColumns } = await readSheet(source, {
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
    facts: { sheet: { name, others: otherSheets, hidden, hiddenColumns: hiddenNames }, lettersOf },
    rows: () => readCsvRows(batchesOf(records), header, reading),
  };
}

async function* batchesOf(
  records: readonly CsvRecord[],
): AsyncGenerator<readonly CsvRecord[], void, undefined> {
  for (let start = 0; start < records.length; start += maxRowsPerBatch) {
    yield records.slice(start, start + maxRowsPerBatch);
  }
}
