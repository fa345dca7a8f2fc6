import { z } from 'zod';
import type { RowResult } from '../../../../domain/row-result.ts';
import type { FailureTally } from '../../../journal/failed-rows.ts';
import type { KeptCause } from '../ending.ts';

const failureLimitSchema = z.union([
  z.number().int().min(0),
  z.object({ percent: z.number().positive().max(100) }),
  z.literal('none'),
]);

export type FailureLimit = z.infer<typeof failureLimitSchema>;

const canaryOptionsSchema = z.object({
  rows: z.number().int().min(1),
  /** Whether the canary is a fair sample instead of the first rows. */
  random: z.boolean().exactOptional(),
  /** Whether the run pauses after the canary, until a user has looked at it. */
  pause: z.boolean().exactOptional(),
  /** If no user can be asked, the run stops when more rows of the canary failed. Not applied with `pause`. */
  maxFailures: z.number().int().min(0),
});

export type CanaryOptions = Readonly<z.infer<typeof canaryOptionsSchema>>;

/** The options of a run that its guards obey. Absent options allow anything, as in earlier versions. */
export const guardOptionsSchema = z.object({
  maxFailures: failureLimitSchema.exactOptional(),
  canary: canaryOptionsSchema.exactOptional(),
});

export type RunGuardOptions = Readonly<z.infer<typeof guardOptionsSchema>>;

/** Why a guard stops a run. Rows are known by their places; people see their numbers in the manifest. */
export interface RunHalt {
  readonly cause: KeptCause;
  /** The reason with its figures, so that a person can judge them without the report. Names no row without `rowToSee`. */
  readonly reason: (numberOf: (place: number) => number) => string;
  /** The row at which a person should look; `failure` is its result. */
  readonly rowToSee?: {
    readonly place: number;
    readonly failure?: Pick<RowResult, 'code' | 'message'>;
  };
}

/** The results of a canary whose rows all have one. */
export interface CanaryCount {
  readonly rows: number;
  readonly failed: number;
  readonly failures: FailureTally;
  /** Whether the user let the run go on after the canary. Absent when no user could be asked. */
  readonly isAccepted?: boolean | undefined;
}

/** What is known of a run that may stop it. */
export class GuardTally {
  /** Called rows that failed, from the start or since a user resumed the halted run. */
  readonly failures: FailureTally;
  /** The results of the canary. Absent until the canary is evaluated. */
  canary?: CanaryCount;
  /** The name of the budget that is spent. */
  spentBudget?: string;
  /** Why the worker of this process has given up, and the row that it was calling. */
  outage?: { readonly reason: string; readonly place: number | undefined };

  /** @param failures the failures in the journal */
  constructor(failures: FailureTally) {
    this.failures = failures.copy();
  }

  /** @returns whether the row counts for the guards */
  add(result: RowResult): boolean {
    return this.failures.add(result);
  }
}

/** A guard decides from the tally alone, so that a resumed run is judged like one that was never stopped. */
export interface RunGuard {
  /** The name of the guard, for the log. */
  readonly name: string;
  readonly judge: (tally: GuardTally) => RunHalt | undefined;
}
