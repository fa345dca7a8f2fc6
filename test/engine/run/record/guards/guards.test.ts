import { describe, expect, test } from 'vitest';
import type { RowResult } from '../../../../../src/domain/row-result.ts';
import { FailureTally } from '../../../../../src/engine/journal/failed-rows.ts';
import type {
  FailureLimit,
  RunGuardOptions,
  RunHalt,
} from '../../../../../src/engine/run/record/guards/guard.ts';
import { endingOfHalt, Guards } from '../../../../../src/engine/run/record/guards/guards.ts';

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
function haltsAfter(limits: RunGuardOptions, results: readonly RowResult[]): number | undefined {
  const guards = new Guards(limits);
  const index = results.findIndex((one) => guards.takeOwnResult(one) !== undefined);
  return index === -1 ? undefined : index + 1;
}

describe('a run halts', () => {
  test('never without limits', () => {
    expect(haltsAfter({}, resultsOf('A'.repeat(500)))).toBeUndefined();
  });

  test.each<[FailureLimit, string, number | undefined]>([
    [2, 'A.AiA', 5],
    [0, '.A', 2],
    [40, 'A'.repeat(40), undefined],
    [{ percent: 5 }, 'A'.repeat(7), undefined],
    [{ percent: 5 }, 'AsAsAsAsAsAsAsA', 15],
    [{ percent: 5 }, '..ABABABAB', 10],
    [{ percent: 50 }, 'A'.repeat(12), undefined],
    [{ percent: 50 }, 'A'.repeat(30), 17],
    [{ percent: 99.9 }, 'A'.repeat(3_000), undefined],
    [{ percent: 100 }, 'A'.repeat(3_000), undefined],
    ['none', 'A'.repeat(3_000), undefined],
  ])('with a limit of %j, of rows that ended as %.20s, after row %s', (maxFailures, text, end) => {
    expect(haltsAfter({ maxFailures }, resultsOf(text))).toBe(end);
  });
});

test('a result counts once, whether it is seen when it finishes, when it is collected, or both', () => {
  const guards = new Guards({ maxFailures: 2 });
  const [first, second, third] = resultsOf('ABC') as [RowResult, RowResult, RowResult];
  expect(guards.takeOwnResult(first)).toBeUndefined();
  // Its batch was lost, and another worker called the row again.
  expect(guards.takeOwnResult(first)).toBeUndefined();
  expect(guards.takeCollectedResults([second, first])).toBeUndefined();
  const halt = guards.takeCollectedResults([third]);
  expect(halt?.reason((place) => place)).toMatch(
    /^3 of 3 rows failed, more than the limit of 2 \(--max-failures\)\./,
  );
});

describe('a guard of a resumed run', () => {
  test.each<[string, RunGuardOptions, string]>([
    ['a number', { maxFailures: 4 }, 'A.A.A.A.A'],
    ['a share', { maxFailures: { percent: 5 } }, 'A.A.A.A.A.ABB'],
  ])(
    'halts where it would have halted in one session, however often the process is killed: %s',
    (_title, limits, text) => {
      const results = resultsOf(text);
      const journal = new FailureTally();
      const halts = results.map((one) => {
        const halt = new Guards(limits, journal).takeOwnResult(one);
        journal.add(one);
        return halt !== undefined;
      });
      expect(halts.indexOf(true)).toBe(results.length - 1);
      // The process died before it could report it.
      expect(new Guards(limits, journal).judge()).toBeDefined();
    },
  );
});

test('a limit exceeded while a run paused, or ended its canary, still halts it when it continues', () => {
  const guards = new Guards({ maxFailures: 0 });
  const [first, second] = resultsOf('A.') as [RowResult, RowResult];
  expect(guards.takeOwnResult(first)).toBeDefined();
  expect(guards.takeCollectedResults([second])).toBeDefined();
  expect(guards.judge()).toBeDefined();
});

/** The halt after which no result is judged. */
function haltAfter(limits: RunGuardOptions, results: readonly RowResult[]) {
  const guards = new Guards(limits);
  const halt = results.map((one) => guards.takeOwnResult(one)).at(-1);
  if (halt === undefined) throw new Error('It did not halt.');
  return halt;
}

const failed = (row: number, code: string, message = '') => result(row, 'failed', code, message);

/** How a run ends whose rows have numbers above their places. */
const endingOf = (halt: RunHalt, above = 100) => endingOfHalt(halt, async () => (place) => place + above);

test.each([
  [
    'one code',
    'AAA',
    '3 of 3 rows failed, more than the limit of 2 (--max-failures). All with A, for example row 101.',
  ],
  [
    'the most frequent code at the end',
    'BAA',
    '3 of 3 rows failed, more than the limit of 2 (--max-failures). Mostly with A (2 rows), for example row 102.',
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
])('the sentence names the guard, and the codes with examples: %s', async (_title, text, reason) => {
  const maxFailures = text.replaceAll('.', '').length - 1;
  const halt = haltAfter({ maxFailures }, resultsOf(text));
  expect((await endingOf(halt)).reason).toBe(reason);
});

test.each([
  [
    5,
    '..AAAAAAAA',
    '8 of the first 10 rows failed; at 5 % allowed, chance gives that at most once in 60 million runs',
  ],
  [
    5,
    'AAAAAAAA',
    '8 of the first 8 rows failed; at 5 % allowed, chance gives that at most once in 2.9 billion runs',
  ],
  [
    0.1,
    'AAAAAAAA',
    '8 of the first 8 rows failed; at 0.1 % allowed, chance gives that at most once in 1 trillion runs',
  ],
  [
    50,
    'A'.repeat(17),
    '17 of the first 17 rows failed; at 50 % allowed, chance gives that at most once in 14,000 runs',
  ],
])('a halt for a share of %d %% says how rare chance makes it: %s', async (percent, text, figures) => {
  const halt = haltAfter({ maxFailures: { percent } }, resultsOf(text));
  expect((await endingOf(halt)).reason).toBe(
    `${figures}. All with A, for example row ${text.indexOf('A') + 101}.`,
  );
});

test('after a resume that accepts the failures, the sentence says since when it counts', async () => {
  const guards = new Guards({ maxFailures: { percent: 5 } }, new FailureTally('resume'));
  const halt = guards.takeCollectedResults(resultsOf('AAAAAAAA'));
  expect(halt && (await endingOf(halt)).reason).toMatch(
    /^8 of the first 8 rows after the resume failed; at 5 % /,
  );
});

test('the message of the API is in the sentence', async () => {
  const halt = haltAfter({ maxFailures: 0 }, [failed(1, 'NOT_FOUND', 'no evaluation 1')]);
  expect((await endingOf(halt)).reason).toMatch(/for example row 101 \(no evaluation 1\)\.$/);
});

test('a halt names the row to look at, by its number', async () => {
  const halt = haltAfter({ maxFailures: 0 }, [failed(1, 'NOT_FOUND')]);
  expect(await endingOf(halt, 1)).toEqual({
    state: 'halted',
    because: 'guard',
    reason:
      '1 of 1 row failed, more than the limit of 0 (--max-failures). All with NOT_FOUND, for example row 2.',
    rowToSee: { row: 2, failure: { code: 'NOT_FOUND', message: '' } },
  });
});

test('the first answer for another entry halts, whatever the limits', async () => {
  const guards = new Guards({ maxFailures: 'none' });
  expect(guards.takeOwnResult(result(1, 'succeeded', 'OK'))).toBeUndefined();
  const halt = guards.takeOwnResult(failed(2, 'ANSWER_ID_MISMATCH', 'the answer is about 6 instead of 5'));
  if (halt === undefined) throw new Error('It did not halt.');
  expect(halt.guard).toBe('answer for another entry');
  expect(await endingOf(halt, 0)).toMatchObject({
    state: 'halted',
    because: 'guard',
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

describe('without a question, a run continues after a canary', () => {
  const canary = { rows: 4, maxFailures: 3 };
  const failures = new FailureTally();
  for (const one of resultsOf('.ABB')) failures.add(one);
  const counted = { rows: 4, failed: 3, failures };

  test('with no more failures than are allowed', async () => {
    expect(new Guards({ canary }).takeNews({ canary: counted })).toBeUndefined();
    const halt = new Guards({ canary: { ...canary, maxFailures: 2 } }).takeNews({ canary: counted });
    expect(halt && (await endingOf(halt, 0))).toEqual({
      state: 'halted',
      because: 'canary',
      reason:
        '3 of the 4 rows of the canary failed, more than the limit of 2 (canary_max_failures). Mostly with B (2 rows), for example row 3.',
      rowToSee: { row: 3, failure: { code: 'B', message: '' } },
    });
  });

  test('if its user says so, whatever failed', async () => {
    const strict = { canary: { ...canary, maxFailures: 0 } };
    expect(new Guards(strict).takeNews({ canary: { ...counted, isAccepted: true } })).toBeUndefined();
    const halt = new Guards({ canary }).takeNews({ canary: { ...counted, isAccepted: false } });
    const reason = 'stopped by you after the canary (3 of 4 failed)';
    expect(halt && (await endingOf(halt))).toEqual({ state: 'halted', because: 'canary', reason });
  });
});

test('a spent budget interrupts, an outage gives up, and neither needs the numbers of rows it does not name', async () => {
  const unread = () => Promise.reject(new Error('The file of rows was read.'));
  const spent = new Guards({}).takeNews({ spentBudget: 'it is 06:00' });
  expect(spent && (await endingOfHalt(spent, unread))).toEqual({
    state: 'interrupted',
    because: 'budget',
    reason: 'it is 06:00',
  });
  const away = new Guards({}).takeNews({ outage: { reason: 'no answer', place: undefined } });
  expect(away && (await endingOfHalt(away, unread))).toEqual({
    state: 'halted',
    because: 'stuck',
    reason: 'no answer',
  });
  const unclear = new Guards({}).takeNews({ outage: { reason: 'no answer', place: 7 } });
  expect(unclear && (await endingOf(unclear))).toMatchObject({ rowToSee: { row: 107 } });
});

test('the first halt stays, whatever is learned later', () => {
  const guards = new Guards({ maxFailures: 0 });
  const first = guards.takeOwnResult(failed(1, 'A'));
  expect(guards.takeNews({ spentBudget: 'it is 06:00' })).toBe(first);
});
