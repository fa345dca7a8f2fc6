import type { RowHistory, RowResult } from '../domain.ts';

/** Why rows may be without a result: the run goes on by itself, or how it ended. */
export type Unfinished = 'pending' | 'interrupted' | 'cancelled' | 'halted';

const codes: Readonly<Record<Unfinished, string>> = {
  pending: 'PENDING',
  interrupted: 'INTERRUPTED',
  cancelled: 'CANCELLED',
  halted: 'HALTED',
};

/** What the journal knows of a row without a result. */
export interface UnfinishedRow {
  readonly row: number;
  /** Empty when the row does not say a known one. */
  readonly operation: string;
  readonly history: RowHistory | undefined;
  /** Whether it was handed to the datastore and nobody has looked since what became of it. */
  readonly unsettled: boolean;
}

/**
 * The line of the report for a row without a result. A row that was certainly not processed is `not_attempted`; one
 * with an attempt that the API did not just put off is `failed`, unless it will be called yet. What may have been
 * processed is unclear, so that nobody feeds it back unseen.
 */
export function unfinishedResult(unfinished: Unfinished, row: UnfinishedRow): RowResult {
  const { history } = row;
  const lost = row.unsettled && unfinished !== 'pending';
  const unclear = lost || (history?.unclear ?? false);
  const attempted = unclear || (history !== undefined && history.attempts > history.unprocessed);
  return {
    row: row.row,
    operation: row.operation,
    outcome: attempted && unfinished !== 'pending' ? 'failed' : 'not_attempted',
    code: codes[unfinished],
    message: message(unfinished, history, { lost, unclear }),
    attempts: history?.attempts ?? 0,
    unclear,
    ...(history?.startedAt !== undefined && { startedAt: history.startedAt }),
    ...(history?.lastStatus !== undefined && { httpStatus: history.lastStatus }),
  };
}

function message(
  unfinished: Unfinished,
  history: RowHistory | undefined,
  { lost, unclear }: { readonly lost: boolean; readonly unclear: boolean },
): string {
  const parts = [unfinished === 'pending' ? 'not finished yet' : `the run was ${unfinished}`];
  if (lost) parts.push('the process ended before it could tell what became of this row');
  if (history?.lastCode !== undefined) parts.push(`the last attempt met ${lastProblem(history)}`);
  if (unclear) parts.push('the row may have been processed');
  return parts.join('; ');
}

function lastProblem({ lastCode = '', lastMessage = '' }: RowHistory): string {
  return lastMessage === '' ? lastCode : `${lastCode}: ${lastMessage}`;
}
