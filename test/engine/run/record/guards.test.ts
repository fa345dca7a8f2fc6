import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { RowResult } from '../../../../src/domain/row-result.ts';
import { FailureTally } from '../../../../src/engine/journal/failed-rows.ts';
import { FailureGuard, type FailureLimits, haltedBy } from '../../../../src/engine/run/record/guards.ts';

function result(row: number, outcome: RowResult['outcome'], code: string, message = ''): RowResult {
  return { row, operation: 'x', outcome, code, message, attempts: 1, unclear: false };
}

/** Results of rows from 1: `.` succeeded, a capital letter failed with that code, `i`, `d` and `s` were not called. */
function resultsOf(text: string): RowResult[] {
  const uncalled = { i: 'invalid', d: 'duplicate', s: 'skipped' } as const;
  return [...text].map((letter, index) => {
    const outcome = uncalled[letter as keyof typeof uncalled] ?? (letter === '.' ? 'succeeded' : 'failed');
    return result(index + 1, outcome, letter === '.' ? 'OK' : letter);
  });
}

/** The result after which the run halts; undefined: it does not. */
function haltsAfter(limits: FailureLimits, results: readonly RowResult[]): number | undefined {
  const guard = new FailureGuard(limits);
  const index = results.findIndex((one) => guard.finished(one) !== undefined);
  return index === -1 ? undefined : index + 1;
}

const share = { maxFailures: { percent: 5 }, maxFailuresAfter: 100 } as const;

describe('a run halts', () => {
  test('never without limits', () => {
    expect(haltsAfter({}, resultsOf('A'.repeat(500)))).toBeUndefined();
  });

  test('exactly where the rules say, whatever the results and limits', () => {
    const limits = fc.record({
      maxFailures: fc.oneof(
        fc.integer({ min: 0, max: 12 }),
        fc.record({ percent: fc.integer({ min: 1, max: 100 }) }),
        fc.constant('none' as const),
      ),
      maxFailuresAfter: fc.integer({ min: 1, max: 40 }),
      maxConsecutiveFailures: fc.integer({ min: 1, max: 30 }),
    });
    const letters = fc.oneof(
      fc.array(fc.constantFrom('.', '.', '.', 'A', 'B', 'i', 's'), { maxLength: 80 }),
      fc.array(fc.constantFrom('A', 'A', 'A', 'A', 'A', 'A', 'd'), { maxLength: 40 }),
    );
    fc.assert(
      fc.property(limits, letters, (allowed, results) => {
        const called = (end: number) => results.slice(0, end).filter((letter) => /[.AB]/.test(letter));
        const isTooMuch = (end: number): boolean => {
          const seen = called(end).join('');
          const failed = seen.replaceAll('.', '').length;
          const inARow = /[AB]*$/.exec(seen)?.[0].length ?? 0;
          if (inARow > allowed.maxConsecutiveFailures) return true;
          if (allowed.maxFailures === 'none') return false;
          if (/^(A{20}|B{20})$/.test(seen)) return true;
          if (typeof allowed.maxFailures === 'number') return failed > allowed.maxFailures;
          const limit = (allowed.maxFailures.percent / 100) * seen.length;
          return seen.length >= allowed.maxFailuresAfter && failed > limit + 1e-9;
        };
        const ends = Array.from({ length: results.length }, (_, index) => index + 1);
        expect(haltsAfter(allowed, resultsOf(results.join('')))).toBe(ends.find(isTooMuch));
      }),
    );
  });
});

test('a result counts once, whether it is seen when it finishes, when it is collected, or both', () => {
  const guard = new FailureGuard({ maxFailures: 2 });
  const [first, second, third] = resultsOf('ABC') as [RowResult, RowResult, RowResult];
  expect(guard.finished(first)).toBeUndefined();
  // Its batch was lost, and another worker called the row again.
  expect(guard.finished(first)).toBeUndefined();
  expect(guard.collected([second, first])).toBeUndefined();
  expect(guard.collected([third])).toMatchObject({
    what: '3 of 3 rows failed, more than the limit of 2 (--max-failures)',
  });
});

describe('a guard of a resumed run', () => {
  test.each<[string, FailureLimits, string]>([
    ['a number', { maxFailures: 4 }, 'A.A.A.A.A'],
    ['a share', share, `${'A'.repeat(5)}${'.'.repeat(94)}B`],
    ['failures in a row', { maxConsecutiveFailures: 4 }, '..AAAAA'],
    ['the first rows with one code', share, 'A'.repeat(20)],
  ])(
    'halts where it would have halted in one session, however often the process is killed: %s',
    (_title, limits, text) => {
      const results = resultsOf(text);
      const journal = new FailureTally();
      const halts = results.map((one) => {
        const halt = new FailureGuard(limits, journal).finished(one);
        journal.add(one);
        return halt !== undefined;
      });
      expect(halts.indexOf(true)).toBe(results.length - 1);
      // The process died before it could report it.
      expect(new FailureGuard(limits, journal).check()).toBeDefined();
    },
  );
});

test('a limit exceeded while a run paused, or ended its canary, still halts it when it continues', () => {
  const guard = new FailureGuard({ maxConsecutiveFailures: 0 });
  const [first, second] = resultsOf('A.') as [RowResult, RowResult];
  expect(guard.finished(first)).toBeDefined();
  expect(guard.collected([second])).toBeDefined();
  expect(guard.check()).toBeDefined();
});

/** The halt after which no result is judged. */
function haltAfter(limits: FailureLimits, results: readonly RowResult[]) {
  const guard = new FailureGuard(limits);
  const halt = results.map((one) => guard.finished(one)).at(-1);
  if (halt === undefined) throw new Error('It did not halt.');
  return halt;
}

const failed = (row: number, code: string, message = '') => result(row, 'failed', code, message);

test.each([
  [
    'one code',
    'AAA',
    '3 of 3 rows failed, more than the limit of 2 (--max-failures), all with A, for example row 101.',
  ],
  [
    'the most frequent code at the end',
    'BAA',
    '3 of 3 rows failed, more than the limit of 2 (--max-failures), mostly with A (2 rows), for example row 102.',
  ],
  [
    'another code at the end, which is told first',
    'AAA.AABB',
    '7 of 8 rows failed, more than the limit of 6 (--max-failures). At the end B (2 rows), for example row 108. ' +
      'Mostly with A (5 rows), for example row 101.',
  ],
  [
    'a code that is not that of most failures',
    'AACCBB',
    '6 of 6 rows failed, more than the limit of 5 (--max-failures). At the end B (2 rows), for example row 106. ' +
      'Most often with A (2 rows), for example row 101.',
  ],
])('the sentence names the guard, and the codes with examples: %s', (_title, text, reason) => {
  const maxFailures = text.replaceAll('.', '').length - 1;
  const halt = haltAfter({ maxFailures }, resultsOf(text));
  expect(haltedBy(halt, (row) => row + 100).reason).toBe(reason);
});

test('the message of the API is in the sentence', () => {
  const halt = haltAfter({ maxFailures: 0 }, [failed(1, 'NOT_FOUND', 'no evaluation 1')]);
  expect(haltedBy(halt, (row) => row).reason).toMatch(/for example row 1 \(no evaluation 1\)\.$/);
});

test('a halt names the row to look at', () => {
  const rows = Array.from({ length: 20 }, (_, index) => failed(index + 1, 'NOT_FOUND'));
  expect(haltedBy(haltAfter({ maxFailures: { percent: 5 } }, rows), (row) => row + 1)).toEqual({
    reason: 'the first 20 rows all failed, all with NOT_FOUND, for example row 2.',
    rowToSee: { row: 2, failure: { code: 'NOT_FOUND', message: '' } },
  });
});

test('the first answer for another entry halts, whatever the limits', () => {
  const guard = new FailureGuard({ maxFailures: 'none' });
  expect(guard.finished(result(1, 'succeeded', 'OK'))).toBeUndefined();
  const halt = guard.finished(failed(2, 'ANSWER_ID_MISMATCH', 'the answer is about 6 instead of 5'));
  if (halt === undefined) throw new Error('It did not halt.');
  expect(haltedBy(halt, (row) => row)).toEqual({
    reason:
      'the service answered for another entry, which it may have changed: row 2 (the answer is about 6 instead of 5). ' +
      'Check both entries, and find out why the service took one for the other, before you resume the run. ' +
      'A resume does not call this row again.',
    rowToSee: {
      row: 2,
      failure: { code: 'ANSWER_ID_MISMATCH', message: 'the answer is about 6 instead of 5' },
    },
  });
});
