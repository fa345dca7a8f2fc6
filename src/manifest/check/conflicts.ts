import { escapeInvisible } from '../../text/printable.ts';
import type { RowProblem } from '../problem.ts';

/**
 * What is done with rows that act on the same subject with different requests: `refuse` leaves that to the user, `last`
 * calls the last of them only, `in-order` all of them, one after the other.
 */
export const conflictRules = ['refuse', 'last', 'in-order'] as const;

export type ConflictRule = (typeof conflictRules)[number];

/** A row that acts on what an earlier one acts on, with another request. */
export interface Conflict {
  readonly operation: string;
  /** What the subject is, in one word. */
  readonly thing: string;
  readonly subject: string;
  readonly row: number;
  readonly line: number;
  /** The earlier row: the first of its subject, or the latest before, if rows are called in order. */
  readonly firstRow: number;
  readonly firstLine: number;
}

/** What is wrong with such a row where conflicts are refused. */
export function conflictProblem({ thing, subject, firstLine }: Conflict): RowProblem {
  return { problem: `changes ${thing} ${escapeInvisible(subject)} otherwise than line ${firstLine} does` };
}
