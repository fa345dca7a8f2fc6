import type { Operation } from '../../jobs/operation.ts';
import type { JournalView } from '../journal/journal.ts';
import type { ManifestRow } from '../manifest/row.ts';
import { joinResults } from './join-results.ts';
import { ReportFiles, type ReportPaths } from './report-files.ts';
import { type RunFacts, type RunSummary, summarize } from './summary.ts';
import { Tally } from './tally.ts';
import type { Unfinished } from './unfinished.ts';

export interface ReportInput {
  /** The run's folder. */
  readonly folder: string;
  /** All rows of the manifest, from its beginning. */
  readonly rows: AsyncIterable<readonly ManifestRow[]>;
  /** All of its original column names, in order. */
  readonly columns: readonly string[];
  /** The token that stands for the empty string. */
  readonly clearToken: string;
  /** Field name to the value that rows have which leave it out, from `--user-id` or the manifest's `defaults`. */
  readonly defaults: ReadonlyMap<string, unknown>;
  /** The operations that occur in the run; their columns are in the report. */
  readonly operations: readonly Operation[];
  /** Name of a row's operation, empty when the row says no known one; asked for rows without a result. */
  readonly operationOf: (row: ManifestRow) => string;
  readonly journal: JournalView;
  readonly run: RunFacts;
  /** What becomes of rows without a result. */
  readonly unfinished: Unfinished;
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
    for await (const lines of joinResults(input)) {
      for (const { result } of lines) tally.add(result);
      await files.write(lines);
    }
    const summary = summarize(input.run, tally);
    return { paths: await files.publish(summary), summary, alteredRows: files.alteredRows };
  } catch (error) {
    await files.discard();
    throw error;
  }
}
