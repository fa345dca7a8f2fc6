import { join } from 'node:path';
import { replaceFile } from '../../base/disk/files.ts';
import { CqbatchError, fatalError } from '../../base/errors/errors.ts';
import { unwritableReport } from './csv-file.ts';
import type { ReportLines } from './join-retries.ts';
import { type ReportCellOptions, ReportCells } from './report-columns.ts';

const fileName = 'report.xlsx';

export interface XlsxReportInput extends ReportCellOptions {
  readonly folder: string;
  /** From the first one; again if the workbook turns out to need ZIP64. */
  readonly readLines: () => Promise<ReportLines>;
}

/** A sheet's limits in Excel. */
const mostColumns = 16_384;
const mostCharacters = 32_767;
const cutHint = '… (cut: Excel holds 32,767 characters; report.csv has the full text)';
const columnWidth = 20;

/**
 * Writes report.xlsx. All cells are text, so that no number loses digits and none is a formula. Rows beyond the limit of a sheet go into
 * another sheet. Memory does not depend on the number of rows.
 *
 * @throws a fatal error `XLSX_TOO_LARGE` when there are too many columns for Excel, and the errors of `writeReports`
 */
export async function writeXlsxReport(input: XlsxReportInput): Promise<string> {
  const path = join(input.folder, fileName);
  const { writeXlsxStream } = await import('hucre/xlsx');
  try {
    const cells = new ReportCells(input, unguarded);
    if (cells.header.length > mostColumns)
      throw fatalError(
        'XLSX_TOO_LARGE',
        'The report has more columns than the 16,384 of an Excel sheet. Leave out --format xlsx, and use report.csv.',
      );
    const write = async (zip64: boolean): Promise<void> => {
      const workbook = writeXlsxStream(rowsOf(await input.readLines(), cells), {
        name: 'report',
        freezePane: { rows: 1 },
        // As text, so that Excel reads nothing that users type there as a number.
        columns: cells.header.map((name) => ({ header: held(name), width: columnWidth, numFmt: '@' })),
        zip64,
      });
      await replaceFile(path, workbook);
    };
    // LibreOffice reads no streamed ZIP64, which only a part of 4 GiB needs.
    await write(false).catch((error) => {
      if ((error as Error).name !== 'ZipError') throw error;
      return write(true);
    });
    return path;
  } catch (error) {
    throw error instanceof CqbatchError ? error : unwritableReport(path, error);
  }
}

/** Excel never runs cells that are text. */
const unguarded = (text: string): string => text;

async function* rowsOf(lines: ReportLines, cells: ReportCells): AsyncGenerator<string[]> {
  for await (const part of lines) for (const line of part) yield cells.of(line).map(held);
}

/** Excel reads `_x0041_` as `A`, and `_x005F_x0041_` as `_x0041_`. Of the characters that XML can't hold, the library escapes all but
 * U+FFFE and U+FFFF. */
function held(text: string): string {
  const escaped = text
    .replace(/_(?=x[0-9a-f]{4}_)/gi, '_x005F_')
    .replace(/[\ufffe\uffff]/g, (character) => (character === '\ufffe' ? '_xFFFE_' : '_xFFFF_'));
  return escaped.length > mostCharacters
    ? escaped.slice(0, mostCharacters - cutHint.length) + cutHint
    : escaped;
}
