import { readFile } from 'node:fs/promises';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { RowResult } from '../../../../../src/domain/row-result.ts';
import { onceInRuns } from '../../../../../src/engine/run/record/guards/chance.ts';
import { Guards } from '../../../../../src/engine/run/record/guards/guards.ts';
import { Random } from '../../../../simulation/random.ts';

/** The likelihood ratio as it is defined, by the midpoint rule. */
function integrated(failed: number, rows: number, allowed: number): number {
  const steps = 5_000;
  let sum = 0;
  for (let step = 0; step < steps; step += 1) {
    const p = allowed + ((step + 0.5) / steps) * (1 - allowed);
    sum += Math.exp(failed * Math.log(p / allowed) + (rows - failed) * Math.log((1 - p) / (1 - allowed)));
  }
  return sum / steps;
}

test('the number is the integral that its docstring names, at the limit exact to one in 1,000', () => {
  const share = fc.double({ min: 0.001, max: 0.9, noNaN: true });
  const counts = fc
    .integer({ min: 1, max: 3_000 })
    .chain((rows) => fc.tuple(fc.constant(rows), fc.nat(rows)));
  const property = fc.property(share, counts, (allowed, [rows, failed]) => {
    const ratio = integrated(failed, rows, allowed);
    const number = onceInRuns(failed, rows, allowed);
    if (failed <= allowed * rows) expect(number).toBe(0);
    // So large a number is not exact to the last digit, and need not be.
    if (ratio > 1e12) return;
    // It is a lower bound: no run halts too early.
    expect(number).toBeLessThanOrEqual(ratio * (1 + 1e-4));
    if (ratio >= 10_000) expect(number / ratio).toBeGreaterThan(0.999);
  });
  fc.assert(property, { numRuns: 500 });
});

const limit = { maxFailures: { percent: 5 } } as const;

function resultAt(row: number, hasFailed: boolean): RowResult {
  const [outcome, code] = hasFailed ? (['failed', 'NOT_FOUND'] as const) : (['succeeded', 'OK'] as const);
  return { row, operation: 'x', outcome, code, message: '', attempts: 1, unclear: false };
}

/** How many rows have finished, and failed, when the run halts; undefined if it does not within these rows. */
function haltIn(rows: number, hasFailed: (row: number) => boolean) {
  const guards = new Guards(limit);
  let failed = 0;
  for (let row = 1; row <= rows; row += 1) {
    const result = resultAt(row, hasFailed(row));
    failed += result.outcome === 'failed' ? 1 : 0;
    if (guards.takeOwnResult(result) !== undefined) return { finished: row, failed };
  }
  return undefined;
}

const shares = [1, 0.5, 0.2, 0.1, 0.06] as const;
const long = 300_000;
// Chosen before any number was looked at.
const seed = 20_261_129;

/** Of 101 random runs. */
function medianHalt(share: number): number {
  const random = new Random(seed);
  const ends = Array.from({ length: 101 }, () => haltIn(long, () => random.chance(share))?.finished ?? long);
  return ends.toSorted((a, b) => a - b)[50] ?? long;
}

const number = (value: number): string => String(value).replace(/\B(?=(\d{3})+$)/g, ',');

describe('at 5 % allowed', () => {
  test('a run halts as soon as the page of guards says', async () => {
    const lines = shares.map((share) => {
      const evenly = haltIn(
        long,
        (row) => Math.floor(row * share + 1e-9) > Math.floor((row - 1) * share + 1e-9),
      );
      const even = evenly === undefined ? 'never' : `${number(evenly.failed)} of ${number(evenly.finished)}`;
      return `| ${share * 100} % | ${even} | ${number(medianHalt(share))} |`;
    });
    const page = await readFile('docs/guards.md', 'utf8');
    const table = page.split('\n').filter((line) => /^\| \d+ % \|/.test(line));
    expect(table).toEqual(lines);
  });

  test('a run of which all rows fail halts within 10 rows', () => {
    expect(haltIn(10, () => true)).toEqual({ finished: 8, failed: 8 });
  });

  test('a run of 1,000 rows of which 5 % fail by chance halts in at most one of 10,000 cases', () => {
    /** The probability of each number of failures in a run that has not halted. */
    let going = new Map([[0, 1]]);
    let halted = 0;
    for (let row = 1; row <= 1_000; row += 1) {
      const next = new Map<number, number>();
      for (const [failed, probability] of going) {
        for (const [more, chance] of [
          [0, 0.95],
          [1, 0.05],
        ] as const) {
          const after = failed + more;
          const isHalted = after >= 8 && onceInRuns(after, row, 0.05) >= 10_000;
          if (isHalted) halted += probability * chance;
          else next.set(after, (next.get(after) ?? 0) + probability * chance);
        }
      }
      going = next;
    }
    expect(halted).toBeGreaterThan(0);
    expect(halted).toBeLessThanOrEqual(1 / 10_000);
  });

  test('none of 10,000 random runs of 1,000 rows of which 5 % fail halts', () => {
    const random = new Random(seed);
    let halts = 0;
    for (let run = 0; run < 10_000; run += 1) if (haltIn(1_000, () => random.chance(0.05))) halts += 1;
    expect(halts).toBe(0);
  });
});

test('fewer than 8 failures never halt for a share, whatever the share and the order', () => {
  const percents = fc.double({ min: 0.001, max: 100, noNaN: true });
  const property = fc.property(percents, fc.array(fc.boolean(), { maxLength: 60 }), (percent, failures) => {
    const guards = new Guards({ maxFailures: { percent } });
    let failed = 0;
    for (const [index, hasFailed] of failures.entries()) {
      failed += hasFailed ? 1 : 0;
      const halt = guards.takeOwnResult(resultAt(index + 1, hasFailed));
      if (failed < 8) expect(halt).toBeUndefined();
    }
  });
  fc.assert(property);
});
