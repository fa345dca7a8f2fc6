import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { RowResult } from '../../../../src/domain/terms.ts';
import { FailureTally } from '../../../../src/engine/journal/failed-rows.ts';
import { FailureGuard, type FailureLimits, haltText } from '../../../../src/engine/run/record/guards.ts';
import { resumeCommand } from '../../../../src/engine/run/record/record.ts';

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
    what: '3 of 3 rows failed; --max-failures allows 2',
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

test('the sentence names the guard, the main code, an example and how to continue', () => {
  const guard = new FailureGuard({ maxFailures: 2 });
  const halts = [
    result(1, 'failed', 'NOT_FOUND', 'no evaluation 1'),
    result(2, 'failed', 'FAILED_PRECONDITION', 'evaluation 2 is not recoverable'),
    result(3, 'failed', 'FAILED_PRECONDITION', 'evaluation 3 is not recoverable'),
  ].map((one) => guard.finished(one));
  const [, , halt] = halts;
  if (halt === undefined) throw new Error('It did not halt.');
  expect(haltText(halt, 'monday', (row) => row + 100)).toBe(
    '3 of 3 rows failed; --max-failures allows 2. Mostly FAILED_PRECONDITION (2 rows), such as row 102 ' +
      '(evaluation 2 is not recoverable). Look at report.csv, then continue with: cqbatch resume monday',
  );
});

test('the sentence about the first rows names the option without which the run would halt again', () => {
  const guard = new FailureGuard({ maxFailures: { percent: 5 } });
  const halts = Array.from({ length: 20 }, (_, index) =>
    guard.finished(result(index + 1, 'failed', 'NOT_FOUND', '')),
  );
  const halt = halts.at(-1);
  if (halt === undefined) throw new Error('It did not halt.');
  const reason = haltText(halt, 'monday', (row) => row);
  expect(reason).toMatch(
    /^the first 20 rows all failed with NOT_FOUND\. .*: cqbatch resume monday --max-failures none$/,
  );
  const states = [{ state: 'halted' as const, at: '', reason }];
  expect(resumeCommand({ id: 'monday', states })).toBe('cqbatch resume monday --max-failures none');
  expect(resumeCommand({ id: 'monday', states: [] })).toBe('cqbatch resume monday');
});
