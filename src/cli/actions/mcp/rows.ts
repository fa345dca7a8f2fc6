import type { Outcome } from '../../../domain.ts';
import { type BatchRow, results } from '../../../index.ts';
import type { Flags } from '../../config/load.ts';
import { openWorkplace } from '../../context.ts';
import { documentOf } from '../../render/words.ts';

/** Rows on one page. */
export const mostRows = 100;

interface WantedRows {
  readonly run: string;
  readonly outcome?: Outcome | undefined;
  readonly code?: string | undefined;
  /** The number of the last row of the page before; 0 for the first page. */
  readonly after: number;
  readonly limit: number;
}

/** A page of the rows of a run with their results, even during the run. */
export async function pageOfRows(
  flags: Flags,
  { run, outcome, code, after, limit }: WantedRows,
): Promise<object> {
  const { operations, stateDir, find } = (await openWorkplace(flags)).store;
  const { id } = await find(run);
  const page: object[] = [];
  let last = after;
  for await (const row of results({ operations, stateDir, run: id })) {
    const isWanted = (outcome ?? row.outcome) === row.outcome && (code ?? row.code) === row.code;
    if (row.row <= after || !isWanted) continue;
    if (page.length === limit) return { run: id, rows: page, next_after: last };
    page.push(rowDocument(row));
    last = row.row;
  }
  return { run: id, rows: page, next_after: null };
}

function rowDocument(result: BatchRow): object {
  const { row, operation, subject, outcome, code, message, httpStatus, attempts, unclear, columns } = result;
  return documentOf({
    row,
    operation,
    subject,
    outcome,
    code,
    message,
    httpStatus,
    attempts,
    unclear,
    columns,
  });
}
