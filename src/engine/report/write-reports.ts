import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { writeJsonFile } from '../../base/disk/json-file.ts';
import { type Guard, guardColumn, guardFor } from '../../base/text/formula-guard.ts';
import { stepAfter } from '../../domain/codes.ts';
import { CsvFile, unwritableReport } from './csv-file.ts';
import type { ReportPage } from './html/report-page.ts';
import type { ReportLine } from './join-results.ts';
import type { ReportLines } from './join-retries.ts';
import { type RefeedOptions, RefeedRows } from './refeed.ts';
import { flagCell, messageOf, type ReportCellOptions, ReportCells } from './report-columns.ts';
import { type RunSummary, type SummaryHead, summaryFile, Tally } from './summary.ts';

export interface ReportInput extends Omit<RefeedOptions, 'guard'>, ReportCellOptions {
  readonly folder: string;
  readonly lines: ReportLines;
  readonly run: SummaryHead;
  readonly page?: ReportPage | undefined;
}

export interface ReportPaths {
  readonly report: string;
  readonly summary: string;
  /** The path of failed.csv, with rows that failed or are invalid. Absent if there are none. */
  readonly failed?: string;
  /** The path of correct.csv, with failed rows that succeed only after a correction of their cells. */
  readonly correct?: string;
  /** The path of not-attempted.csv. Absent if every row was attempted. */
  readonly notAttempted?: string;
  /** The path of report.html. Absent with `--no-html`. */
  readonly html?: string;
  /** The path of report.xlsx. Present only with `--format xlsx`. */
  readonly xlsx?: string;
}

export interface WrittenReports {
  readonly paths: ReportPaths;
  readonly summary: RunSummary;
  /** The number of rows that CSV can't hold unchanged: don't feed failed.csv and not-attempted.csv back. */
  readonly alteredRows: number;
}

/**
 * Writes report.csv, failed.csv, correct.csv, not-attempted.csv and summary.json (docs/report.md), each whole or not at all. Memory does
 * not depend on the number of rows.
 *
 * A pending row is in neither of the files that can be fed back: it will still be called, or was called.
 *
 * @throws a fatal error `REPORT_UNWRITABLE` or a `SystemError` when writing fails, and the errors of reading the rows or the journal. The
 *   files of the previous report then stay.
 */
export async function writeReports(input: ReportInput): Promise<WrittenReports> {
  const files = new ReportFiles(input);
  const tally = new Tally();
  try {
    for await (const lines of input.lines) {
      for (const { result } of lines) tally.add(result);
      await files.write(lines);
      await input.page?.add(lines);
    }
    const report = await files.seal();
    const summary = tally.summary(input.run, report);
    return { paths: await files.publish(summary), summary, alteredRows: files.alteredRows };
  } catch (error) {
    await files.discard();
    throw error;
  }
}

const alteredHint = "CSV can't hold this row unchanged: retry it with `cqbatch retry`, not with this file";

const notAttemptedFile = 'not-attempted.csv';
export const correctFile = 'correct.csv';

class ReportFiles {
  alteredRows = 0;
  readonly #report: CsvFile;
  readonly #failed: CsvFile;
  readonly #correct: CsvFile;
  readonly #notAttempted: CsvFile;
  readonly #summaryPath: string;
  readonly #cells: ReportCells;
  readonly #refeed: RefeedRows;
  readonly #guard: Guard;

  constructor(input: ReportInput) {
    const { folder, run } = input;
    const { delimiter } = run;
    this.#guard = guardFor(delimiter);
    this.#cells = new ReportCells(input, this.#guard);
    this.#refeed = new RefeedRows({ ...input, guard: this.#guard });
    this.#summaryPath = join(folder, summaryFile);
    const file = (name: string, header: readonly string[]) =>
      new CsvFile(join(folder, name), header, delimiter);
    const refeedFile = (name: string, more: readonly string[]) =>
      file(name, [...this.#refeed.header, '_row', ...more, guardColumn(delimiter)]);
    this.#report = file('report.csv', this.#cells.header);
    const error = ['_error_code', '_error_message', '_error_unclear'];
    this.#failed = refeedFile('failed.csv', error);
    this.#correct = refeedFile(correctFile, error);
    this.#notAttempted = refeedFile(notAttemptedFile, []);
  }

  async write(lines: readonly ReportLine[]): Promise<void> {
    const failed: (readonly string[])[] = [];
    const toCorrect: (readonly string[])[] = [];
    const notAttempted: (readonly string[])[] = [];
    for (const { row, result } of lines) {
      const { outcome, operation, code, unclear } = result;
      const isFailed = outcome === 'failed' || outcome === 'invalid';
      if (!isFailed && outcome !== 'not_attempted') continue;
      const { cells, isAltered } = this.#refeed.cells(row, operation);
      if (isAltered) this.alteredRows++;
      const cellsAndRow = [...cells, String(row.row)];
      const message = isAltered ? `${messageOf(result)} (${alteredHint})` : messageOf(result);
      if (isFailed) {
        const record = [...cellsAndRow, this.#guard(code), this.#guard(message), flagCell(unclear), 'yes'];
        failed.push(record);
        if (stepAfter(code) === 'correct') toCorrect.push(record);
      } else notAttempted.push([...cellsAndRow, 'yes']);
    }
    await this.#report.write(lines.map((line) => this.#cells.cellsOf(line)));
    if (failed.length > 0) await this.#failed.write(failed);
    if (toCorrect.length > 0) await this.#correct.write(toCorrect);
    if (notAttempted.length > 0) await this.#notAttempted.write(notAttempted);
  }

  async seal(): Promise<string> {
    await this.#report.write([]);
    for (const file of this.#all) await file.seal();
    return this.#report.digest();
  }

  /** Publishes summary.json last. */
  async publish(summary: RunSummary): Promise<ReportPaths> {
    for (const file of this.#all) await file.publish();
    try {
      await writeJsonFile(this.#summaryPath, summary);
    } catch (error) {
      throw unwritableReport(this.#summaryPath, error);
    }
    return {
      report: this.#report.path,
      summary: this.#summaryPath,
      ...(this.#failed.isCreated && { failed: this.#failed.path }),
      ...(this.#correct.isCreated && { correct: this.#correct.path }),
      ...(this.#notAttempted.isCreated && { notAttempted: this.#notAttempted.path }),
    };
  }

  /** Removes the files that are not published. Never fails, because it runs after a failure. */
  async discard(): Promise<void> {
    for (const file of this.#all) await file.discard().catch(() => {});
  }

  get #all(): readonly CsvFile[] {
    return [this.#report, this.#failed, this.#correct, this.#notAttempted];
  }
}

export async function removeReport(
  folder: string,
  name: typeof notAttemptedFile | 'report.html' | 'report.xlsx',
): Promise<void> {
  await rm(join(folder, name), { force: true });
}
