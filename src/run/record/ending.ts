import type { Attribution } from '../../actor.ts';
import type { OutcomeCounts } from '../../domain.ts';

/** Why a run has ended before all its rows had results, beyond its state. */
export const endCauses = [
  /** What its budget allows was called. */
  'budget',
  /** More rows failed than a guard allows. */
  'failures',
  /** The user, or what failed in its canary, did not let it go on. */
  'canary',
  /**
   * No row can succeed: wrong token, wrong base URL, no permission, an API that is unavailable. Or the worker of this process met rows
   * that it does not understand, or came to a standstill.
   */
  'stuck',
] as const;

export type EndCause = (typeof endCauses)[number];

/** How a run ends, from its feeding to the exit code. The user who ended it and the reason are for people. */
export type RunEnding = Attribution &
  (
    | { readonly state: 'completed' | 'cancelled' }
    /** The user has stopped it, or its budget is used up. */
    | { readonly state: 'interrupted'; readonly because?: 'budget' }
    | { readonly state: 'halted'; readonly because: 'failures' | 'canary' | 'stuck' }
  );

/** What is known of a run that has ended: its record, or less. */
export interface KnownEnd {
  readonly state: string;
  readonly because?: string | undefined;
}

/** The end of a run whose budget is used up. */
export function budgetSpent(what: string, runId: string): RunEnding {
  return {
    state: 'interrupted',
    because: 'budget',
    reason: `${what}. Continue with: cqbatch resume ${runId}`,
  };
}

/** What a run came to, in one word; each goes with an exit code of the command. */
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
