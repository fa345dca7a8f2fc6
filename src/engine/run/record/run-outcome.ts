import type { Attribution } from '../../../domain/actor.ts';
import type { OutcomeCounts } from '../../../domain/terms.ts';
import type { RowToSee } from '../../report/next-steps.ts';

/** Why a run ended early, if its state does not say so. */
export const endCauses = [
  'budget',
  /** More rows failed than a guard allows. */
  'failures',
  /** The user stopped the run after its canary, or too many of its rows failed. */
  'canary',
  /** No row can succeed: wrong token, base URL or permission, or the API is unavailable. Or this process's worker can't continue. */
  'stuck',
] as const;

export type EndCause = (typeof endCauses)[number];

export type RunEnding = Attribution & {
  readonly rowToSee?: RowToSee;
} & (
    | { readonly state: 'completed' | 'cancelled' }
    /** Stopped by the user, or by a budget. */
    | { readonly state: 'interrupted'; readonly because?: 'budget' }
    | { readonly state: 'halted'; readonly because: 'failures' | 'canary' | 'stuck' }
  );

export interface KnownEnd {
  readonly state: string;
  readonly because?: string | undefined;
}

export function endInWords({ state, because }: KnownEnd): string {
  return state === 'halted' && because === 'stuck' ? 'gave up' : state;
}

export function budgetSpent(reason: string): RunEnding {
  return { state: 'interrupted', because: 'budget', reason };
}

/** Results of a run; each has an exit code. */
export const runResults = [
  'succeeded',
  'rows_failed',
  'halted',
  'cancelled',
  'spent',
  'interrupted',
  'failed',
] as const;

export type RunResult = (typeof runResults)[number];

export function resultOf({ state, because }: KnownEnd, { failed, invalid }: OutcomeCounts): RunResult {
  if (state === 'completed') return failed + invalid > 0 ? 'rows_failed' : 'succeeded';
  if (state === 'interrupted') return because === 'budget' ? 'spent' : 'interrupted';
  if (state === 'halted') return because === 'stuck' ? 'failed' : 'halted';
  return state === 'cancelled' ? 'cancelled' : 'failed';
}
