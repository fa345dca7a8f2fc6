import type { RowResult } from '../domain.ts';
import type { JournalView } from '../journal/journal.ts';
import type { ManifestRow } from '../manifest/row.ts';
import { incompleteReport } from './failure.ts';
import { type Unfinished, unfinishedResult } from './unfinished.ts';

/** A row with what became of it: one line of the report. */
export interface ReportLine {
  readonly row: ManifestRow;
  readonly result: RowResult;
}

export interface JoinInput {
  readonly rows: AsyncIterable<readonly ManifestRow[]>;
  readonly journal: JournalView;
  readonly unfinished: Unfinished;
  readonly operationOf: (row: ManifestRow) => string;
}

/**
 * Joins the rows of the manifest, in their order, with the results in the journal.
 *
 * @throws a fatal error `REPORT_INCOMPLETE` when rows are missing in the manifest or come twice, or when the journal
 *   has results of rows that the manifest lacks.
 */
export async function* joinResults(input: JoinInput): AsyncGenerator<readonly ReportLine[]> {
  const { rows: chunks, journal } = input;
  let last = 0;
  for await (const rows of chunks) {
    const results = await resultsByRow(journal, last + 1, last + rows.length);
    const lines: ReportLine[] = [];
    for (const row of rows) {
      last++;
      if (row.row !== last) throw incompleteReport(`row ${last} of the manifest is numbered ${row.row}`);
      lines.push({ row, result: results.get(last) ?? withoutResult(row, input) });
    }
    yield lines;
  }
  if (journal.lastRow > last) {
    throw incompleteReport(
      `the journal has a result of row ${journal.lastRow}, the manifest ends with row ${last}`,
    );
  }
}

async function resultsByRow(
  journal: JournalView,
  first: number,
  last: number,
): Promise<Map<number, RowResult>> {
  const results = new Map<number, RowResult>();
  for await (const part of journal.results(first, last)) {
    for (const result of part) results.set(result.row, result);
  }
  return results;
}

function withoutResult(row: ManifestRow, { journal, unfinished, operationOf }: JoinInput): RowResult {
  return unfinishedResult(unfinished, {
    row: row.row,
    operation: operationOf(row),
    history: journal.history(row.row),
    unsettled: journal.isUnsettled(row.row),
  });
}
