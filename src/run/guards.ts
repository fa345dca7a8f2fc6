import { z } from 'zod';
import type { RowResult } from '../domain.ts';

/** How many rows may fail before a run halts: so many, so many of a hundred finished ones, or any number. */
export const failureLimitSchema = z.union([
  z.number().int().min(0),
  z.object({ percent: z.number().positive().max(100) }),
  z.literal('none'),
]);

export type FailureLimit = z.infer<typeof failureLimitSchema>;

/** What a run allows. An absent limit allows anything. */
export interface FailureLimits {
  readonly maxFailures?: FailureLimit;
  /** A share counts from so many finished rows on. */
  readonly maxFailuresAfter?: number;
  /** Rows in a row. */
  readonly maxConsecutiveFailures?: number;
}

/** Rows that have failed with one code, and the first of them. */
interface FailedRows {
  readonly code: string;
  readonly rows: number;
  readonly example: RowResult;
}

/** Why too much has failed for a run to go on. */
export interface FailureHalt {
  /** Which guard, and what it saw. */
  readonly what: string;
  /** The code with which most rows have failed. */
  readonly most: FailedRows;
}

/** The codes with which rows have failed. */
export class FailureCodes {
  readonly #codes = new Map<string, { rows: number; readonly example: RowResult }>();

  add(result: RowResult): void {
    const known = this.#codes.get(result.code);
    if (known === undefined) this.#codes.set(result.code, { rows: 1, example: result });
    else known.rows += 1;
  }

  /** The one with which most have failed, the first of these. There must be one. */
  get most(): FailedRows {
    let most: FailedRows | undefined;
    for (const [code, { rows, example }] of this.#codes)
      if (rows > (most?.rows ?? 0)) most = { code, rows, example };
    if (most === undefined) throw new TypeError('Nothing has failed.');
    return most;
  }
}

/** Where a share is wanted and nobody says from how many rows on. */
const usuallyAfter = 100;
/** An operation or column that is wrong from the first row on shows in as many. */
const firstCalls = 20;

/**
 * Watches the results of a run since it was begun or resumed, and tells once when too much has failed. Only rows that were
 * called and `failed` count against it. A result that comes twice, from the worker of this process and when it is
 * collected, counts once.
 */
export class FailureGuard {
  readonly #limits: FailureLimits;
  /** Of rows that finished here and are not collected yet. */
  readonly #seenHere = new Set<number>();
  readonly #codes = new FailureCodes();
  #finished = 0;
  #failed = 0;
  #inARow = 0;
  #halted = false;

  constructor(limits: FailureLimits) {
    this.#limits = limits;
  }

  /** A row was finished by the worker of this process. */
  finished(result: RowResult): FailureHalt | undefined {
    if (this.#seenHere.has(result.row)) return undefined;
    this.#seenHere.add(result.row);
    return this.#see(result);
  }

  /** Results are in the journal, each for the first time, whoever called the rows. */
  collected(results: readonly RowResult[]): FailureHalt | undefined {
    let halt: FailureHalt | undefined;
    for (const result of results) if (!this.#seenHere.delete(result.row)) halt ??= this.#see(result);
    return halt;
  }

  #see(result: RowResult): FailureHalt | undefined {
    const { outcome } = result;
    if (outcome === 'succeeded') this.#inARow = 0;
    else if (outcome !== 'failed') return undefined;
    this.#finished += 1;
    if (outcome === 'failed') {
      this.#failed += 1;
      this.#inARow += 1;
      this.#codes.add(result);
    }
    if (this.#halted || this.#failed === 0) return undefined;
    const what = this.#exceeded();
    if (what === undefined) return undefined;
    this.#halted = true;
    return { what, most: this.#codes.most };
  }

  #exceeded(): string | undefined {
    const { maxFailures = 'none', maxFailuresAfter = usuallyAfter, maxConsecutiveFailures } = this.#limits;
    const finished = this.#finished;
    const failed = this.#failed;
    if (maxConsecutiveFailures !== undefined && this.#inARow > maxConsecutiveFailures)
      return `${this.#inARow} rows in a row have failed, and --max-consecutive-failures allows ${maxConsecutiveFailures}`;
    if (maxFailures === 'none') return undefined;
    if (finished === firstCalls && failed === firstCalls) {
      const { code, rows } = this.#codes.most;
      if (rows === firstCalls)
        return `the first ${firstCalls} rows have all failed with ${code}, which only --max-failures none allows`;
    }
    if (typeof maxFailures === 'number')
      return failed > maxFailures
        ? `${failed} of ${finished} rows have failed, and --max-failures allows ${maxFailures}`
        : undefined;
    const { percent } = maxFailures;
    if (finished < maxFailuresAfter || failed * 100 <= percent * finished) return undefined;
    return `${failed} of ${finished} rows have failed, and --max-failures allows ${percent}%`;
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
    `${what}. ${rows === 1 ? `It is ${code}` : `Most with ${code} (${rows} rows)`}, such as ${such}. ` +
    `Look at report.csv, then go on with: cqbatch resume ${runId}`
  );
}
