import { z } from 'zod';
import { count, counted } from '../../../base/text/format.ts';
import { shortened } from '../../../base/text/printable.ts';
import { commonCodeText } from '../../../domain/common-code.ts';
import type { RowResult } from '../../../domain/row-result.ts';
import { type FailedRows, type FailuresInShort, FailureTally } from '../../journal/failed-rows.ts';
import type { RowToSee } from '../../report/next-steps.ts';

const failureLimitSchema = z.union([
  z.number().int().min(0),
  z.object({ percent: z.number().positive().max(100) }),
  z.literal('none'),
]);

export type FailureLimit = z.infer<typeof failureLimitSchema>;

/** Absent limits allow anything, as in earlier versions. */
export const failureLimitsSchema = z.object({
  maxFailures: failureLimitSchema.exactOptional(),
  /** The share counts from this many finished rows on. */
  maxFailuresAfter: z.number().int().min(1).exactOptional(),
  maxConsecutiveFailures: z.number().int().min(1).exactOptional(),
});

export type FailureLimits = Readonly<z.infer<typeof failureLimitsSchema>>;

export interface FailureHalt extends FailuresInShort {
  /** The guard, and the failures that it counted. */
  readonly what: string;
  /** The row whose answer is about another entry. */
  readonly damage?: RowResult | undefined;
}

const usuallyAfter = 100;
/** This many first failures with one code show a wrong operation or column. */
const firstCalls = 20;

/**
 * Tells at each result whether too many rows have failed: the run may be ending for another reason, and resume later. Counts called rows
 * that `failed`, from the start or since a user resumed the halted run. A result that comes from this process's worker and on collection
 * counts once. No limit allows an answer for another entry: the first one halts.
 */
export class FailureGuard {
  readonly #limits: FailureLimits;
  readonly #tally: FailureTally;
  /** Rows that this process's worker finished, not yet collected. */
  readonly #finishedHere = new Set<number>();
  /** Later successes do not reset it. */
  #halt: FailureHalt | undefined;

  /** @param counted the failures in the journal */
  constructor(limits: FailureLimits, counted: FailureTally = new FailureTally()) {
    this.#limits = limits;
    this.#tally = counted.copy();
  }

  finished(result: RowResult): FailureHalt | undefined {
    if (this.#finishedHere.has(result.row)) return undefined;
    this.#finishedHere.add(result.row);
    return this.#count(result);
  }

  /** Counts results of any worker. */
  collected(results: readonly RowResult[]): FailureHalt | undefined {
    let halt: FailureHalt | undefined;
    for (const result of results) if (!this.#finishedHere.delete(result.row)) halt ??= this.#count(result);
    return halt;
  }

  /** Call this at the start: a process may have died before it could halt the run. */
  check(): FailureHalt | undefined {
    const failures = this.#tally.inShort;
    if (this.#halt !== undefined || failures === undefined) return this.#halt;
    const exceeded = this.#exceeded();
    if (exceeded !== undefined) this.#halt = { ...failures, ...exceeded };
    return this.#halt;
  }

  #count(result: RowResult): FailureHalt | undefined {
    return this.#tally.add(result) ? this.check() : undefined;
  }

  #exceeded(): Pick<FailureHalt, 'what' | 'damage'> | undefined {
    const { maxFailures = 'none', maxFailuresAfter = usuallyAfter, maxConsecutiveFailures } = this.#limits;
    const { finished, failed, mostInARow, alike, damage } = this.#tally;
    if (damage !== undefined)
      return {
        what: 'the service answered for another entry, which it may have changed',
        damage,
      };
    if (maxConsecutiveFailures !== undefined && mostInARow > maxConsecutiveFailures) {
      const what = `${count(mostInARow)} rows in a row failed`;
      return tooMany(what, count(maxConsecutiveFailures), 'max_consecutive_failures');
    }
    if (maxFailures === 'none') return undefined;
    if (alike >= firstCalls) return { what: `the first ${firstCalls} rows all failed` };
    const what = `${count(failed)} of ${counted(finished, 'row')} failed`;
    if (typeof maxFailures === 'number')
      return failed > maxFailures ? tooMany(what, count(maxFailures), '--max-failures') : undefined;
    const { percent } = maxFailures;
    if (finished < maxFailuresAfter || failed * 100 <= percent * finished) return undefined;
    return tooMany(what, `${percent} %`, '--max-failures');
  }
}

export function tooMany(what: string, limit: string, option: string) {
  return { what: `${what}, more than the limit of ${limit} (${option})` };
}

const messageLength = 200;

/** @param numberOf maps a row to its number in the user's manifest */
export function haltedBy(
  { what, damage, failed, last, most }: FailureHalt,
  numberOf: (row: number) => number,
): { readonly reason: string; readonly rowToSee: RowToSee } {
  const exampleOf = ({ example }: FailedRows): string =>
    `for example row ${numberOf(example.row)}${inBrackets(example.message)}`;
  const seen = damage ?? most.example;
  const rowToSee = {
    row: numberOf(seen.row),
    failure: { code: seen.code, message: shortened(seen.message, messageLength) },
  };
  if (damage !== undefined)
    return {
      reason:
        `${what}: row ${numberOf(damage.row)}${inBrackets(damage.message)}. Check both entries, and find out why the ` +
        `service took one for the other, before you resume the run. A resume does not call this row again.`,
      rowToSee,
    };
  const common = `${commonCodeText({ code: most.code, rows: most.rows }, failed)}, ${exampleOf(most)}.`;
  if (last.code === most.code) return { reason: `${what}, ${common}`, rowToSee };
  const latest = `At the end ${last.code} (${counted(last.rows, 'row')}), ${exampleOf(last)}.`;
  return { reason: `${what}. ${latest} ${common[0]?.toUpperCase()}${common.slice(1)}`, rowToSee };
}

function inBrackets(message: string): string {
  const text = shortened(message, messageLength);
  return text === '' ? '' : ` (${text})`;
}
