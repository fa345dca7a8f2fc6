import { count } from '../../base/text/format.ts';
import { stepAfter } from '../../domain/codes.ts';
import type { Outcome } from '../../domain/terms.ts';
import { isResumed } from './join-results.ts';

/**
 * What to do about a row that failed: `resume` and `cancelled` rows have no result, the others are called again in a retry, are corrected
 * first, or need a decision.
 */
export type RowStep = 'resume' | 'cancelled' | ReturnType<typeof stepAfter>;

/** The results of a run by code, with the state of the run. */
export interface RowFacts {
  /** The state of the run. */
  readonly state: string;
  readonly codes: readonly {
    readonly outcome: Outcome;
    readonly code: string;
    readonly count: number;
    readonly unclear?: number;
  }[];
}

/** What to do about a row with this code. @param state of the run */
export function rowStep(code: string, state: string): RowStep {
  if (state === 'cancelled' && code === 'CANCELLED') return 'cancelled';
  return isResumed(code) ? 'resume' : stepAfter(code);
}

export function rowsTo(
  step: RowStep,
  { codes, state }: RowFacts,
  counted: 'count' | 'unclear' = 'count',
): number {
  return codes
    .filter(({ outcome, code }) => needsPerson(outcome) && rowStep(code, state) === step)
    .reduce((sum, each) => sum + (each[counted] ?? 0), 0);
}

function needsPerson(outcome: Outcome): boolean {
  return outcome === 'failed' || outcome === 'invalid';
}

/** What to look at before a step: `all 39 unclear`. */
export function unclearOf(step: RowStep, facts: RowFacts): { readonly first?: string } {
  const [rows, unclear] = [rowsTo(step, facts), rowsTo(step, facts, 'unclear')];
  if (unclear === 0) return {};
  return { first: `${unclear === rows && rows > 1 ? 'all ' : ''}${count(unclear)} unclear` };
}
