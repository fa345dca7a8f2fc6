import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Outcome, RowResult } from '../../../src/domain.ts';
import type { CanaryOptions, RunRecord } from '../../../src/run/record/record.ts';
import { canaryFailure, canaryRows } from '../../../src/run/session/canary.ts';
import { leastOptions, plannedRecord } from '../planned-record.ts';

function result(row: number, outcome: Outcome, code = 'OK'): RowResult {
  return { row, operation: 'x', outcome, code, message: '', attempts: 1, unclear: false };
}

function recordOf(rows: number, canary: CanaryOptions, key = 'a'): RunRecord {
  const plan = { ...plannedRecord.plan, rows };
  return { ...plannedRecord, key, plan, options: { ...leastOptions, canary } };
}

/** The canary of a run of this many rows, some of which have results. */
async function rowsOf(record: RunRecord, results: readonly RowResult[] = []): Promise<number[]> {
  const journal = {
    async *results() {
      yield results;
    },
  };
  return [...(await canaryRows(record, journal))];
}

const first = (rows: number) => ({ rows, maxFailures: 0 });
const sample = (rows: number) => ({ rows, random: true, maxFailures: 0 });

describe('the rows of a canary', () => {
  test('are the first rows', async () => {
    expect(await rowsOf(recordOf(100, first(3)))).toEqual([1, 2, 3]);
  });

  test('are the first rows that are called', async () => {
    const results = [result(1, 'invalid'), result(3, 'duplicate'), result(4, 'skipped')];
    expect(await rowsOf(recordOf(100, first(3)), results)).toEqual([2, 5, 6]);
  });

  test('stay the same when some of them are finished', async () => {
    const results = [result(1, 'invalid'), result(2, 'succeeded'), result(5, 'failed')];
    expect(await rowsOf(recordOf(100, first(3)), results)).toEqual([2, 3, 4]);
  });

  test('are all rows when there are no more', async () => {
    expect(await rowsOf(recordOf(2, first(3)))).toEqual([1, 2]);
    expect(await rowsOf(recordOf(2, sample(3)))).toEqual([1, 2]);
  });

  test('are the same sample for the same run, even when some of them are finished', async () => {
    const property = fc.asyncProperty(
      fc.string(),
      fc.integer({ min: 1, max: 200 }),
      fc.integer({ min: 1, max: 20 }),
      async (key, rows, size) => {
        const record = recordOf(rows, sample(size), key);
        const chosen = await rowsOf(record);
        expect(new Set(chosen).size).toBe(Math.min(rows, size));
        expect(chosen).toEqual(chosen.toSorted((a, b) => a - b));
        const some = chosen.filter((_, index) => index % 2 === 0).map((row) => result(row, 'succeeded'));
        expect(await rowsOf(record, some)).toEqual(chosen);
      },
    );
    await fc.assert(property);
  });

  test('contain, as a sample, each row equally often', async () => {
    const times = new Map<number, number>();
    const runs = 4_000;
    for (let run = 0; run < runs; run += 1)
      for (const row of await rowsOf(recordOf(20, sample(5), `run ${run}`)))
        times.set(row, (times.get(row) ?? 0) + 1);
    // A quarter each: 1,000 with a standard deviation of 27.
    for (let row = 1; row <= 20; row += 1) {
      expect(times.get(row)).toBeGreaterThan(850);
      expect(times.get(row)).toBeLessThan(1_150);
    }
  });
});

test('without a question, a run continues after a canary with no more failures than are allowed', () => {
  const rows = ['OK', 'A', 'B', 'B'].map((code, index) => ({
    result: result(index + 1, code === 'OK' ? 'succeeded' : 'failed', code),
    subject: '',
  }));
  const canary = { rows, failed: 3, left: 90 };
  expect(canaryFailure(canary, { rows: 4, maxFailures: 3 }, 'monday')).toBeUndefined();
  expect(canaryFailure(canary, { rows: 4, maxFailures: 2 }, 'monday')).toBe(
    '3 of the 4 rows of the canary failed; canary_max_failures allows 2. Mostly B (2 rows), such as row 3. ' +
      'Look at report.csv, then continue with: cqbatch resume monday',
  );
});
