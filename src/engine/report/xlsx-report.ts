import { join } from 'node:path';
import { replaceFile } from '../../base/disk/files.ts';
import { CqbatchError, fatalError } from '../../base/errors/errors.ts';
import { unwritableReport } from './csv-file.ts';
import type { ReportLines } from './join-retries.ts';
import { type ReportCellOptions, ReportCells } from './report-columns.ts';
import { escapedCell, mostCharacters, mostColumns, textWorkbook } from './text-workbook.ts';

const fileName = 'report.xlsx';

export interface XlsxReportInput extends ReportCellOptions {
  readonly folder: string;
  /** Reads the lines of the report from the first one. Called again if the workbook turns out to need ZIP64. */
  readonly readLines: () => Promise<ReportLines>;
}

const cutHint = '… (cut: Excel holds 32,767 characters; report.csv has the full text)';

/**
 * Writes report.xlsx.
 *
 * @throws a fatal error `XLSX_TOO_LARGE` when there are too many columns for Excel, and the errors of `writeReports`
 */
export async function writeXlsxReport(input: XlsxReportInput): Promise<string> {
  const path = join(input.folder, fileName);
  try {
    const cells = new ReportCells(input, unguarded);
    if (cells.header.length > mostColumns)
      throw fatalError(
        'XLSX_TOO_LARGE',
        'The report has more columns than the 16,384 of an Excel sheet. Leave out --format xlsx, and use report.csv.',
      );
    const write = async (zip64: boolean): Promise<void> => {
      const rows = rowsOf(await input.readLines(), cells);
      await replaceFile(path, await textWorkbook({ name: 'report', header: cells.header, rows, zip64 }));
    };
    await write(false).catch((error) => {
      if ((error as Error).name !== 'ZipError') throw error;
      return write(true);
    });
    return path;
  } catch (error) {
    throw error instanceof CqbatchError ? error : unwritableReport(path, error);
  }
}

/** Leaves a text unguarded: Excel never runs cells that are text. */
const unguarded = (text: string): string => text;

async function* rowsOf(lines: ReportLines, cells: ReportCells): AsyncGenerator<string[]> {
  for await (const part of lines) for (const line of part) yield cells.cellsOf(line).map(withoutLongTexts);
}

function withoutLongTexts(text: string): string {
  const whole = escapedCell(text);
  return whole.length > mostCharacters ? whole.slice(0, mostCharacters - cutHint.length) + cutHint : whole;
}
