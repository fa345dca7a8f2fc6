import { expect, test } from 'vitest';
import {
  attemptsOf,
  failedUncalled,
  noHistory,
  perhapsCalled,
  unknownAttempt,
  withAttempt,
} from '../../src/domain/attempts.ts';
import type { Attempt } from '../../src/domain/row-result.ts';

const made = (count: number): readonly Attempt[] => {
  let earlier: readonly Attempt[] = [];
  for (let number = 1; number <= count; number += 1) earlier = withAttempt(earlier, { code: `N${number}` });
  return earlier;
};

test('a few dozen attempts are all kept', () => {
  expect(made(24)).toHaveLength(24);
  expect(made(24).some(({ omitted }) => omitted !== undefined)).toBe(false);
});

test.each([25, 26, 1_000])('of %d attempts, the first and last are kept, and how many others', (count) => {
  const kept = made(count);
  expect(kept).toHaveLength(24);
  expect([kept[0]?.code, kept[11]?.code, kept[23]?.code]).toEqual(['N1', 'N12', `N${count}`]);
  expect(kept[12]).toEqual({ code: `N${count - 11}`, omitted: count - 24 });
});

test('the message of an earlier attempt is cut after a whole word', () => {
  const message = `${'word '.repeat(38)}whose end is ${'left out '.repeat(10)}`;
  const [cut = ''] = withAttempt([], { message }).map((attempt) => attempt.message);
  expect(cut).toBe(`${'word '.repeat(38)}whose end…`);
  expect(withAttempt([], { message: cut })).toEqual([{ message: cut }]);
});

test('nothing is known about an attempt whose process died', () => {
  expect(perhapsCalled(noHistory)).toEqual({
    attempts: 1,
    unprocessed: 0,
    unclear: true,
    earlier: [unknownAttempt],
  });
});

test('a row that fails without a further call has no attempt besides its earlier ones', () => {
  const history = { ...noHistory, attempts: 30, earlier: made(30) };
  const why = { row: 1, operation: 'o', code: 'NOT_REPEATED', message: '', unclear: true };
  expect(attemptsOf(failedUncalled(history, why))).toEqual(made(30));
  const called = { ...failedUncalled(history, why), attempts: 31, durationMs: 0 };
  expect(attemptsOf(called)).toHaveLength(made(30).length + 1);
});
