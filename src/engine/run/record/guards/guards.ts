import type { RowResult } from '../../../../domain/row-result.ts';
import { FailureTally } from '../../../journal/failed-rows.ts';
import type { RunEnding } from '../ending.ts';
import { failureGuard, haltOfFailures, moreThanLimit, otherEntryGuard } from './failure-guards.ts';
import { GuardTally, type RunGuard, type RunGuardOptions, type RunHalt } from './guard.ts';

/** All guards of a run. The first that halts gives the reason. */
function guardsOf(options: RunGuardOptions): readonly RunGuard[] {
  return [otherEntryGuard, failureGuard(options), canaryGuard(options), budgetGuard, outageGuard];
}

/**
 * Stops a run after its canary if its user says no or, where no user can be asked, if too many of its rows failed. If the run pauses after
 * its canary, its user judges these failures.
 */
function canaryGuard({ canary: options }: RunGuardOptions): RunGuard {
  const judge: RunGuard['judge'] = ({ canary }) => {
    if (options === undefined || canary === undefined || canary.isAccepted === true) return undefined;
    const { rows, failed, failures, isAccepted } = canary;
    if (isAccepted === false)
      return {
        cause: 'canary',
        reason: () => `stopped by you after the canary (${failed} of ${rows} failed)`,
      };
    if (options.pause || failed <= options.maxFailures || failures.summary === undefined) return undefined;
    const what = `${failed} of the ${rows} rows of the canary failed`;
    return haltOfFailures(
      'canary',
      moreThanLimit(what, options.maxFailures, 'canary_max_failures'),
      failures.summary,
    );
  };
  return { name: 'canary', judge };
}

const budgetGuard: RunGuard = {
  name: 'budget',
  judge: ({ spentBudget }) =>
    spentBudget === undefined ? undefined : { cause: 'budget', reason: () => spentBudget },
};

const outageGuard: RunGuard = {
  name: 'outage',
  judge({ outage }) {
    if (outage === undefined) return undefined;
    const { reason, place } = outage;
    return { cause: 'stuck', reason: () => reason, ...(place !== undefined && { rowToSee: { place } }) };
  },
};

/** A reason to stop a run, from one of its guards. */
export interface GuardHalt extends RunHalt {
  readonly state: 'halt';
  /** The name of the guard. */
  readonly guard: string;
}

/**
 * The guards of a run in progress, and what they look at. Each method takes news and asks all guards, at each result instead of at the end,
 * because a run that is ending for another reason may be resumed later. The first halt stays: later successes don't take it back.
 *
 * A result that comes from this process's worker, and again when its batch is collected, counts once.
 */
export class Guards {
  readonly #guards: readonly RunGuard[];
  readonly #tally: GuardTally;
  /** Rows that this process's worker has finished, and whose batches are not collected. */
  readonly #finishedHere = new Set<number>();
  #halt: GuardHalt | undefined;

  /** @param failures the failures in the journal */
  constructor(options: RunGuardOptions, failures: FailureTally = new FailureTally()) {
    this.#guards = guardsOf(options);
    this.#tally = new GuardTally(failures);
  }

  /** Takes a result of this process's worker. */
  takeOwnResult(result: RowResult): GuardHalt | undefined {
    if (this.#finishedHere.has(result.row)) return undefined;
    this.#finishedHere.add(result.row);
    return this.#count(result);
  }

  /** Takes results of any worker. */
  takeCollectedResults(results: readonly RowResult[]): GuardHalt | undefined {
    let halt: GuardHalt | undefined;
    for (const result of results) if (!this.#finishedHere.delete(result.row)) halt ??= this.#count(result);
    return halt;
  }

  /** Takes what is known besides results. */
  takeNews(news: Partial<Pick<GuardTally, 'canary' | 'spentBudget' | 'outage'>>): GuardHalt | undefined {
    Object.assign(this.#tally, news);
    return this.judge();
  }

  /** Asks all guards. Call this at the start, too: a process may have died before it could halt the run. */
  judge(): GuardHalt | undefined {
    for (const { name, judge } of this.#guards) {
      if (this.#halt !== undefined) break;
      const halt = judge(this.#tally);
      if (halt !== undefined) this.#halt = { ...halt, state: 'halt', guard: name };
    }
    return this.#halt;
  }

  #count(result: RowResult): GuardHalt | undefined {
    return this.#tally.add(result) ? this.judge() : undefined;
  }
}

/** @param numbers reads how places map to numbers in the manifest */
export async function endingOfHalt(
  { cause, reason, rowToSee }: RunHalt,
  numbers: () => Promise<(place: number) => number>,
): Promise<RunEnding> {
  // Numbers are read from the file of all rows: not for a halt that names no row.
  const numberOf = rowToSee === undefined ? (place: number) => place : await numbers();
  const told = {
    reason: reason(numberOf),
    ...(rowToSee !== undefined && {
      rowToSee: {
        row: numberOf(rowToSee.place),
        ...(rowToSee.failure !== undefined && { failure: rowToSee.failure }),
      },
    }),
  };
  return cause === 'budget'
    ? { state: 'interrupted', because: cause, ...told }
    : { state: 'halted', because: cause, ...told };
}
