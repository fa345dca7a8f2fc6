import { randomBytes } from 'node:crypto';
import { createWriteStream } from 'node:fs';
import { rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { ZipFile } from 'yazl';
import { CqbatchError } from '../errors.ts';
import type { Operation } from '../operation/operation.ts';
import { unwritableReport } from './csv-file.ts';
import type { ReportLines } from './join-retries.ts';
import { OriginalCells, resultCells, resultHeader } from './report-columns.ts';
import type { RunSummary } from './summary.ts';
import { sheetXml, workbookParts } from './workbook.ts';

const fileName = 'report.xlsx';

export interface XlsxReportInput {
  /** The run's folder. */
  readonly folder: string;
  readonly lines: ReportLines;
  /** Original column names, in order. */
  readonly columns: readonly string[];
  readonly clearToken: string;
  readonly operations: readonly Operation[];
  readonly summary: RunSummary;
}

/**
 * Writes report.xlsx, whole or not at all and readable by its owner only: the rows of report.csv as text, so that no
 * number loses digits and nothing is a formula, and the summary on a sheet of its own. Memory does not depend on the
 * number of rows.
 *
 * @returns its path.
 * @throws a fatal error `XLSX_TOO_LARGE` when Excel can't hold it, and what `writeReports` throws.
 */
export async function writeXlsxReport(input: XlsxReportInput): Promise<string> {
  const path = join(input.folder, fileName);
  const temporary = `${path}.${randomBytes(4).toString('hex')}.tmp`;
  try {
    const zip = new ZipFile();
    for (const [name, text] of workbookParts(['report', 'summary'])) zip.addBuffer(Buffer.from(text), name);
    zip.addReadStream(Readable.from(sheetXml(reportRows(input))), 'xl/worksheets/sheet1.xml');
    zip.addReadStream(Readable.from(sheetXml(summaryRows(input.summary))), 'xl/worksheets/sheet2.xml');
    zip.end();
    const archive = zip.outputStream as Readable;
    // It does not tell those who read the archive.
    zip.on('error', (error: Error) => archive.destroy(error));
    await pipeline(archive, createWriteStream(temporary, { flags: 'wx', mode: 0o600, flush: true }));
    await rename(temporary, path);
    return path;
  } catch (error) {
    await rm(temporary, { force: true }).catch(() => {});
    throw error instanceof CqbatchError ? error : unwritableReport(path, error);
  }
}

/** Takes away what an earlier report says, which would not be that of the other files. */
export async function removeXlsxReport(folder: string): Promise<void> {
  await rm(join(folder, fileName), { force: true });
}

/** Cells of a sheet are text: nothing in them is run, and nothing needs a guard. */
const unguarded = (text: string): string => text;

async function* reportRows({
  lines,
  columns,
  clearToken,
  operations,
}: XlsxReportInput): AsyncGenerator<readonly string[]> {
  const originals = new OriginalCells(columns, clearToken, unguarded);
  const operationColumns = [...new Set(operations.flatMap((operation) => operation.columns))];
  yield [...originals.header, ...resultHeader(operationColumns, unguarded)];
  for await (const part of lines) {
    for (const { row, result } of part)
      yield [...originals.cells(row), ...resultCells(result, operationColumns, unguarded)];
  }
}

function summaryRows(summary: RunSummary): string[][] {
  const { outcomes, codes, manifest } = summary;
  return [
    ['what', 'value', 'code', 'message'],
    ['run', summary.run, '', ''],
    ['state', summary.state, '', ''],
    ['manifest', manifest.name, '', ''],
    ['started at', summary.started_at ?? '', '', ''],
    ['finished at', summary.finished_at ?? '', '', ''],
    ['at work, seconds', String(summary.duration_s), '', ''],
    ['rows', String(manifest.rows), '', ''],
    ...Object.entries(outcomes).map(([outcome, rows]) => [outcome, String(rows), '', '']),
    ['unclear', String(summary.unclear), '', ''],
    ['requests', String(summary.attempts), '', ''],
    ...codes.map(({ outcome, code, count, message }) => [outcome, String(count), code, message]),
  ];
}
