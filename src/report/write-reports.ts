import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { writeJsonFile } from '../disk/json-file.ts';
import type { Delimiter } from '../manifest/csv/delimiter.ts';
import { type Guard, guardColumn, guardFor } from '../manifest/formula-guard.ts';
import type { Operation } from '../operation/operation.ts';
import { CsvFile, unwritableReport } from './csv-file.ts';
import type { ReportPage } from './html/report-page.ts';
import type { ReportLine } from './join-results.ts';
import type { ReportLines } from './join-retries.ts';
import { type RefeedCells, type RefeedOptions, RefeedRows } from './refeed.ts';
import { flagCell, messageOf, OriginalCells, resultCells, resultHeader } from './report-columns.ts';
import { type RunFacts, type RunSummary, Tally } from './summary.ts';

export interface ReportInput extends Omit<RefeedOptions, 'guard'> {
  /** The run's folder. */
  readonly folder: string;
  readonly lines: ReportLines;
  /** Whether rows without a result will be called though nobody resumes the run. */
  readonly isPending: boolean;
  /** What separates the cells of the CSV files. */
  readonly delimiter: Delimiter;
  /** The operations that occur in the run; their columns are in the report. */
  readonly operations: readonly Operation[];
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
  /** The same for Excel, where it was wanted. */
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

type Records = (readonly string[])[];

/** The files of one report while they are written: which line goes where, and what is beside the original cells. */
class ReportFiles {
  /** Rows in the files for feeding back that CSV cannot hold as they were. */
  alteredRows = 0;
  readonly #report: CsvFile;
  readonly #failed: CsvFile;
  readonly #notAttempted: CsvFile;
  readonly #summaryPath: string;
  readonly #originals: OriginalCells;
  readonly #refeed: RefeedRows;
  readonly #operationColumns: readonly string[];
  readonly #isPending: boolean;
  readonly #guard: Guard;

  constructor(options: ReportInput) {
    const { folder, delimiter, operations, isPending } = options;
    const guard = guardFor(delimiter);
    const file = (name: string, header: readonly string[]) =>
      new CsvFile(join(folder, name), header, delimiter);
    this.#guard = guard;
    this.#originals = new OriginalCells(options.columns, options.clearToken, guard);
    this.#refeed = new RefeedRows({ ...options, guard });
    this.#operationColumns = [...new Set(operations.flatMap(({ columns }) => columns))];
    this.#isPending = isPending;
    this.#report = file('report.csv', [
      ...this.#originals.header,
      ...resultHeader(this.#operationColumns, guard),
    ]);
    this.#failed = file('failed.csv', [
      ...this.#refeed.header,
      '_row',
      '_error_code',
      '_error_message',
      '_error_unclear',
      guardColumn(delimiter),
    ]);
    this.#notAttempted = file(notAttemptedFile, [...this.#refeed.header, '_row', guardColumn(delimiter)]);
    this.#summaryPath = join(folder, 'summary.json');
  }

  async write(lines: readonly ReportLine[]): Promise<void> {
    const report: Records = [];
    const failed: Records = [];
    const notAttempted: Records = [];
    for (const line of lines) {
      report.push([
        ...this.#originals.cells(line.row),
        ...resultCells(line.result, this.#operationColumns, this.#guard),
      ]);
      const { outcome } = line.result;
      if (outcome === 'failed' || outcome === 'invalid') failed.push(this.#failedRecord(line));
      else if (outcome === 'not_attempted' && !this.#isPending)
        notAttempted.push(this.#notAttemptedRecord(line));
    }
    await this.#report.write(report);
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

  #failedRecord(line: ReportLine): readonly string[] {
    const { row, result } = line;
    const { cells, altered } = this.#refed(line);
    const message = altered ? `${messageOf(result)} (${alteredHint})` : messageOf(result);
    return [
      ...cells,
      String(row.row),
      this.#guard(result.code),
      this.#guard(message),
      flagCell(result.unclear),
      'yes',
    ];
  }

  #notAttemptedRecord(line: ReportLine): readonly string[] {
    return [...this.#refed(line).cells, String(line.row.row), 'yes'];
  }

  #refed({ row, result }: ReportLine): RefeedCells {
    const refed = this.#refeed.cells(row, result.operation);
    if (refed.altered) this.alteredRows++;
    return refed;
  }
}

const alteredHint = 'CSV cannot hold this row as it was: repeat it with `cqbatch retry`, not with this file';

const notAttemptedFile = 'not-attempted.csv';

/** Takes away the offer to feed rows back that are called now. */
export async function removeNotAttempted(folder: string): Promise<void> {
  await rm(join(folder, notAttemptedFile), { force: true });
}
