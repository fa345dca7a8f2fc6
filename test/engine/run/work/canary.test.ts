import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { DecidedRow } from '../../../../src/engine/rows/row.ts';
import type { CanaryOptions } from '../../../../src/engine/run/record/guards/guard.ts';
import type { RunRecord } from '../../../../src/engine/run/record/record.ts';
import { canaryRows } from '../../../../src/engine/run/work/canary.ts';
import { callable } from '../../rows/decided-rows.ts';
import { rowsInMemory } from '../../rows/rows-in-memory.ts';
import { leastOptions, plannedRecord } from '../planned-record.ts';

function recordOf(canary: CanaryOptions, key = 'a'): RunRecord {
  return { ...plannedRecord, key, options: { ...leastOptions, canary } };
}

/** Rows of which some are left out. */
function rowsWith(count: number, leftOut: readonly number[] = []): readonly DecidedRow[] {
  return Array.from({ length: count }, (_, index): DecidedRow => {
    const row = index + 1;
    if (leftOut.includes(row)) return { kind: 'invalid', row, line: row, problems: [{ problem: 'bad' }] };
    return { ...callable, row };
  });
}

/** The canary of a run, by places. */
async function canaryOf(canary: CanaryOptions, rows: readonly DecidedRow[], key?: string): Promise<number[]> {
  return [...(await canaryRows(recordOf(canary, key), rowsInMemory(rows)))];
}

const first = (rows: number) => ({ rows, maxFailures: 0 });
const sample = (rows: number) => ({ rows, random: true, maxFailures: 0 });

describe('the rows of a canary', () => {
  test('are the first rows that are called, or all', async () => {
    expect(await canaryOf(first(3), rowsWith(100, [1, 3, 4]))).toEqual([2, 5, 6]);
    expect(await canaryOf(first(3), rowsWith(2))).toEqual([1, 2]);
  });

  test('are the same sample for the same run, and never rows that are left out', async () => {
    const property = fc.asyncProperty(
      fc.string(),
      fc.integer({ min: 1, max: 200 }),
      fc.integer({ min: 1, max: 20 }),
      fc.uniqueArray(fc.integer({ min: 1, max: 200 })),
      async (key, count, size, leftOut) => {
        const rows = rowsWith(count, leftOut);
        const called = rows.filter(({ kind }) => kind === 'callable').map(({ row }) => row);
        const chosen = await canaryOf(sample(size), rows, key);
        expect(new Set(chosen).size).toBe(Math.min(called.length, size));
        expect(chosen).toEqual(called.filter((row) => chosen.includes(row)));
        expect(await canaryOf(sample(size), rows, key)).toEqual(chosen);
      },
    );
    await fc.assert(property);
  });

  test('contain, as a sample, each row equally often', async () => {
    const times = new Map<number, number>();
    const runs = 4_000;
    const rows = rowsWith(20);
    for (let run = 0; run < runs; run += 1)
      for (const row of await canaryOf(sample(5), rows, `run ${run}`))
        times.set(row, (times.get(row) ?? 0) + 1);
    // A quarter each: 1,000 with a standard deviation of 27.
    for (let row = 1; row <= 20; row += 1) {
      expect(times.get(row)).toBeGreaterThan(850);
      expect(times.get(row)).toBeLessThan(1_150);
    }
  });
});
