import { z } from 'zod';
import { shortened } from '../../../base/text/printable.ts';
import type { RowResult } from '../../../domain/terms.ts';
import { type FailedRows, FailureTally } from '../../journal/failed-rows.ts';

/** How many rows may fail before a run halts: a number, a share of the finished rows, or any number. */
const failureLimitSchema = z.union([
  z.number().int().min(0),
  z.object({ percent: z.number().positive().max(100) }),
  z.literal('none'),
]);

export type FailureLimit = z.infer<typeof failureLimitSchema>;

/** The guards of a run. An absent limit, as in earlier versions, allows anything. */
export const failureLimitsSchema = z.object({
  /** The run halts when more rows have failed. */
  maxFailures: failureLimitSchema.exactOptional(),
  /** The share counts from this many finished rows on. */
  maxFailuresAfter: z.number().int().min(1).exactOptional(),
  /** The run halts when more consecutive rows have failed. */
  maxConsecutiveFailures: z.number().int().min(1).exactOptional(),
});

export type FailureLimits = Readonly<z.infer<typeof failureLimitsSchema>>;

/** Why too many failures halt a run. */
export interface FailureHalt {
  /** The guard, and the failures that it counted. */
  readonly what: string;
  /** The most frequent code of the failures. */
  readonly most: FailedRows;
}

/** Default of `maxFailuresAfter`. */
const usuallyAfter = 100;
/** This many failures with one code show an operation or column that is wrong from the start. */
const firstCalls = 20;
const firstRowsFailed = `the first ${firstCalls} rows all failed`;

/**
 * Watches the results of a run, and tells at each result whether too many rows have failed: not only once, because the run may be ending
 * for another reason, and resume later. Starts from the journal's counts since the start, or since a user resumed the run after a halt.
 * Only rows that were called and `failed` count. A result that comes twice, from this process's worker and on collection, counts once.
 */
export class FailureGuard {
  readonly #limits: FailureLimits;
  readonly #tally: FailureTally;
  /** Rows that this process's worker finished and that are not collected yet. */
  readonly #finishedHere = new Set<number>();
  /** The exceeded limit. Later successes do not reset it. */
  #halt: FailureHalt | undefined;

  /** @param counted the failures in the journal */
  constructor(limits: FailureLimits, counted: FailureTally = new FailureTally()) {
    this.#limits = limits;
    this.#tally = counted.copy();
  }

  /** Counts a row that this process's worker finished. */
  finished(result: RowResult): FailureHalt | undefined {
    if (this.#finishedHere.has(result.row)) return undefined;
    this.#finishedHere.add(result.row);
    return this.#count(result);
  }

  /** Counts new results in the journal, from any worker. */
  collected(results: readonly RowResult[]): FailureHalt | undefined {
    let halt: FailureHalt | undefined;
    for (const result of results) if (!this.#finishedHere.delete(result.row)) halt ??= this.#count(result);
    return halt;
  }

  /** Whether a limit is exceeded: a process may have died or paused before it could halt the run. */
  check(): FailureHalt | undefined {
    if (this.#halt !== undefined || this.#tally.failed === 0) return this.#halt;
    const what = this.#exceeded();
    if (what !== undefined) this.#halt = { what, most: this.#tally.codes.most };
    return this.#halt;
  }

  #count(result: RowResult): FailureHalt | undefined {
    return this.#tally.add(result) ? this.check() : undefined;
  }

  #exceeded(): string | undefined {
    const { maxFailures = 'none', maxFailuresAfter = usuallyAfter, maxConsecutiveFailures } = this.#limits;
    const { finished, failed, mostInARow, alike, firstCode } = this.#tally;
    if (maxConsecutiveFailures !== undefined && mostInARow > maxConsecutiveFailures)
      return `${mostInARow} rows in a row failed; max_consecutive_failures allows ${maxConsecutiveFailures}`;
    if (maxFailures === 'none') return undefined;
    if (alike >= firstCalls) return `${firstRowsFailed} with ${firstCode}`;
    if (typeof maxFailures === 'number')
      return failed > maxFailures
        ? `${failed} of ${finished} rows failed; --max-failures allows ${maxFailures}`
        : undefined;
    const { percent } = maxFailures;
    if (finished < maxFailuresAfter || failed * 100 <= percent * finished) return undefined;
    return `${failed} of ${finished} rows failed; --max-failures allows ${percent}%`;
  }
}

/** Cuts long messages of an API: the next command follows them. */
const messageLength = 200;

/**
 * Why a run was halted, and how to continue.
 *
 * @param numberOf maps a row to its number in the user's manifest
 */
export function haltText(
  { what, most }: FailureHalt,
  runId: string,
  numberOf: (row: number) => number,
): string {
  const { code, rows, example } = most;
  const message = shortened(example.message, messageLength);
  const such = `row ${numberOf(example.row)}${message === '' ? '' : ` (${message})`}`;
  // Resuming resets the other guards; this one would halt the run again.
  const option = what.startsWith(firstRowsFailed) ? ' --max-failures none' : '';
  return (
    `${what}. ${rows === 1 ? `Code ${code}` : `Mostly ${code} (${rows} rows)`}, such as ${such}. ` +
    `Look at report.csv, then continue with: cqbatch resume ${runId}${option}`
  );
}
