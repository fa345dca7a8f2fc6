import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { writeJsonFile } from '../disk/json-file.ts';
import { type Guard, guardColumn, guardFor } from '../manifest/formula-guard.ts';
import type { Delimiter } from '../manifest/manifest.ts';
import { CsvFile, unwritableReport } from './csv-file.ts';
import type { ReportPage } from './html/report-page.ts';
import type { ReportLine } from './join-results.ts';
import type { ReportLines } from './join-retries.ts';
import { type RefeedOptions, RefeedRows } from './refeed.ts';
import { flagCell, messageOf, type ReportCellOptions, ReportCells } from './report-columns.ts';
import { type RunFacts, type RunSummary, Tally } from './summary.ts';

export interface ReportInput extends Omit<RefeedOptions, 'guard'>, ReportCellOptions {
  /** The run's folder. */
  readonly folder: string;
  readonly lines: ReportLines;
  /** Whether rows without a result will be called without a resume. */
  readonly isPending: boolean;
  /** What separates the cells of the CSV files. */
  readonly delimiter: Delimiter;
  readonly run: RunFacts;
  /** Takes the lines for a page that shows them, if one is wanted. */
  readonly page?: ReportPage | undefined;
}

/** The files of a report. The last two are there only when they have rows. */
export interface ReportPaths {
  readonly report: string;
  readonly summary: string;
  readonly failed?: string;
  readonly notAttempted?: string;
  /** A page that shows all of it, unless it was not wanted. */
  readonly html?: string;
  /** A workbook for Excel, where it was wanted. */
  readonly xlsx?: string;
}

export interface WrittenReports {
  readonly paths: ReportPaths;
  /** The content of summary.json; its outcomes add up to the rows of the manifest. */
  readonly summary: RunSummary;
  /** Rows in failed.csv and not-attempted.csv that CSV cannot hold as they were: they should not be fed back. */
  readonly alteredRows: number;
}

/**
 * Writes report.csv, failed.csv, not-attempted.csv and summary.json into the run's folder, each whole or not at all
 * and readable by its owner only; what they say is in docs/report.md. Memory does not depend on the number of rows.
 *
 * not-attempted.csv is not written while the run goes on by itself, because its rows will be called yet.
 *
 * @throws a fatal error `REPORT_INCOMPLETE` when manifest and journal don't fit together, `REPORT_UNWRITABLE` or a
 *   `SystemError` when the disk refuses, and what reading the rows or the journal throws. The files then are those of the last report.
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
    const summary = tally.summary(input.run);
    return { paths: await files.publish(summary), summary, alteredRows: files.alteredRows };
  } catch (error) {
    await files.discard();
    throw error;
  }
}

const alteredHint = 'CSV cannot hold this row as it was: repeat it with `cqbatch retry`, not with this file';

const notAttemptedFile = 'not-attempted.csv';

/** The files of one report while they are written: which line goes where, and what is beside the original cells. */
class ReportFiles {
  /** Rows in the files for feeding back that CSV cannot hold as they were. */
  alteredRows = 0;
  readonly #report: CsvFile;
  readonly #failed: CsvFile;
  readonly #notAttempted: CsvFile;
  readonly #summaryPath: string;
  readonly #cells: ReportCells;
  readonly #refeed: RefeedRows;
  readonly #isPending: boolean;
  readonly #guard: Guard;

  constructor(input: ReportInput) {
    const { folder, delimiter, isPending } = input;
    this.#isPending = isPending;
    this.#guard = guardFor(delimiter);
    this.#cells = new ReportCells(input, this.#guard);
    this.#refeed = new RefeedRows({ ...input, guard: this.#guard });
    this.#summaryPath = join(folder, 'summary.json');
    const file = (name: string, header: readonly string[]) =>
      new CsvFile(join(folder, name), header, delimiter);
    const refeedFile = (name: string, more: readonly string[]) =>
      file(name, [...this.#refeed.header, '_row', ...more, guardColumn(delimiter)]);
    this.#report = file('report.csv', this.#cells.header);
    this.#failed = refeedFile('failed.csv', ['_error_code', '_error_message', '_error_unclear']);
    this.#notAttempted = refeedFile(notAttemptedFile, []);
  }

  async write(lines: readonly ReportLine[]): Promise<void> {
    const failed: (readonly string[])[] = [];
    const notAttempted: (readonly string[])[] = [];
    for (const { row, result } of lines) {
      const { outcome, operation, code, unclear } = result;
      const isFailed = outcome === 'failed' || outcome === 'invalid';
      if (!isFailed && (outcome !== 'not_attempted' || this.#isPending)) continue;
      const { cells, altered } = this.#refeed.cells(row, operation);
      if (altered) this.alteredRows++;
      const own = [...cells, String(row.row)];
      const message = altered ? `${messageOf(result)} (${alteredHint})` : messageOf(result);
      if (isFailed) failed.push([...own, this.#guard(code), this.#guard(message), flagCell(unclear), 'yes']);
      else notAttempted.push([...own, 'yes']);
    }
    await this.#report.write(lines.map((line) => this.#cells.of(line)));
    if (failed.length > 0) await this.#failed.write(failed);
    if (notAttempted.length > 0) await this.#notAttempted.write(notAttempted);
  }

  /** Puts all files into their places once all are complete, summary.json last. */
  async publish(summary: RunSummary): Promise<ReportPaths> {
    await this.#report.write([]);
    for (const file of this.#all) await file.seal();
    for (const file of this.#all) await file.publish();
    try {
      await writeJsonFile(this.#summaryPath, summary);
    } catch (error) {
      throw unwritableReport(this.#summaryPath, error);
    }
    return {
      report: this.#report.path,
      summary: this.#summaryPath,
      ...(this.#failed.isBegun && { failed: this.#failed.path }),
      ...(this.#notAttempted.isBegun && { notAttempted: this.#notAttempted.path }),
    };
  }

  /** Never fails: it is what is done after a failure. */
  async discard(): Promise<void> {
    for (const file of this.#all) await file.discard().catch(() => {});
  }

  get #all(): readonly CsvFile[] {
    return [this.#report, this.#failed, this.#notAttempted];
  }
}

/** Removes a file of an earlier report: one of rows that are called now, or one that the next report does not have. */
export async function removeReport(
  folder: string,
  name: typeof notAttemptedFile | 'report.html' | 'report.xlsx',
): Promise<void> {
  await rm(join(folder, name), { force: true });
}
