import { z } from 'zod';
import type { RowResult } from '../../domain.ts';
import { type FailedRows, FailureTally } from '../../journal/failed-rows.ts';

/** How many rows may fail before a run halts: a number, a share of the finished rows, or any number. */
const failureLimitSchema = z.union([
  z.number().int().min(0),
  z.object({ percent: z.number().positive().max(100) }),
  z.literal('none'),
]);

export type FailureLimit = z.infer<typeof failureLimitSchema>;

/** What a run allows. An absent limit, as earlier versions left it, allows anything. */
export const failureLimitsSchema = z.object({
  /** The run halts when more rows than that have failed. */
  maxFailures: failureLimitSchema.exactOptional(),
  /** A limit that is a share counts once this many rows are finished. */
  maxFailuresAfter: z.number().int().min(1).exactOptional(),
  /** The run halts when more rows than that have failed one after the other. */
  maxConsecutiveFailures: z.number().int().min(1).exactOptional(),
});

export type FailureLimits = Readonly<z.infer<typeof failureLimitsSchema>>;

/** Why too much has failed for a run to go on. */
export interface FailureHalt {
  /** Which guard, and what it saw. */
  readonly what: string;
  /** The code with which most rows have failed. */
  readonly most: FailedRows;
}

/** Where a share is wanted and the user does not say from how many rows on. */
const usuallyAfter = 100;
/** This many failures show an operation or column that is wrong from the first row on. */
const firstCalls = 20;

/**
 * Watches the results of a run, and tells when too much has failed, each time: the run may be leaving for another reason just
 * then, and go on later. It counts from what the journal has: over the whole run, or since a person let it go on after a halt.
 * Only rows that were called and `failed` count against it. A result that comes twice, from the worker of this process and when
 * it is collected, counts once.
 */
export class FailureGuard {
  readonly #limits: FailureLimits;
  readonly #tally: FailureTally;
  /** Of rows that finished here and are not collected yet. */
  readonly #seenHere = new Set<number>();
  /** What was too much. It stays, whatever succeeds after that. */
  #halt: FailureHalt | undefined;

  /** @param before what the journal has */
  constructor(limits: FailureLimits, before: FailureTally = new FailureTally()) {
    this.#limits = limits;
    this.#tally = before.copy();
  }

  /** A row was finished by the worker of this process. */
  finished(result: RowResult): FailureHalt | undefined {
    if (this.#seenHere.has(result.row)) return undefined;
    this.#seenHere.add(result.row);
    return this.#see(result);
  }

  /** Results are in the journal, each for the first time, whichever worker called the rows. */
  collected(results: readonly RowResult[]): FailureHalt | undefined {
    let halt: FailureHalt | undefined;
    for (const result of results) if (!this.#seenHere.delete(result.row)) halt ??= this.#see(result);
    return halt;
  }

  /** Whether too much has failed so far: a process may have died, or was about to pause, before it could halt the run. */
  check(): FailureHalt | undefined {
    if (this.#halt !== undefined || this.#tally.failed === 0) return this.#halt;
    const what = this.#exceeded();
    if (what !== undefined) this.#halt = { what, most: this.#tally.codes.most };
    return this.#halt;
  }

  #see(result: RowResult): FailureHalt | undefined {
    return this.#tally.add(result) ? this.check() : undefined;
  }

  #exceeded(): string | undefined {
    const { maxFailures = 'none', maxFailuresAfter = usuallyAfter, maxConsecutiveFailures } = this.#limits;
    const { finished, failed, mostInARow, alike, firstCode } = this.#tally;
    if (maxConsecutiveFailures !== undefined && mostInARow > maxConsecutiveFailures)
      return `${mostInARow} rows in a row failed; max_consecutive_failures allows ${maxConsecutiveFailures}`;
    if (maxFailures === 'none') return undefined;
    if (alike >= firstCalls)
      return `the first ${firstCalls} rows all failed with ${firstCode}; use --max-failures none to continue anyway`;
    if (typeof maxFailures === 'number')
      return failed > maxFailures
        ? `${failed} of ${finished} rows failed; --max-failures allows ${maxFailures}`
        : undefined;
    const { percent } = maxFailures;
    if (finished < maxFailuresAfter || failed * 100 <= percent * finished) return undefined;
    return `${failed} of ${finished} rows failed; --max-failures allows ${percent}%`;
  }
}

/** Longer messages of an API are cut: how to go on comes after them. */
const messageLength = 150;

/**
 * Why a run has halted, and how to go on.
 *
 * @param numberOf what a row is called in the manifest that the user gave
 */
export function haltText(
  { what, most }: FailureHalt,
  runId: string,
  numberOf: (row: number) => number,
): string {
  const { code, rows, example } = most;
  const { length } = example.message;
  const message = length > messageLength ? `${example.message.slice(0, messageLength)}…` : example.message;
  const such = `row ${numberOf(example.row)}${length === 0 ? '' : ` (${message})`}`;
  return (
    `${what}. ${rows === 1 ? `Code ${code}` : `Mostly ${code} (${rows} rows)`}, such as ${such}. ` +
    `Look at report.csv, then continue with: cqbatch resume ${runId}`
  );
}
