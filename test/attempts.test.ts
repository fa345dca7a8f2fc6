import { expect, test } from 'vitest';
import { perhapsCalled, unknownAttempt, withAttempt } from '../src/attempts.ts';
import { type Attempt, noHistory } from '../src/domain.ts';

const made = (count: number): readonly Attempt[] => {
  let earlier: readonly Attempt[] = [];
  for (let number = 1; number <= count; number += 1) earlier = withAttempt(earlier, { code: `N${number}` });
  return earlier;
};

test('some dozens of attempts are all kept', () => {
  expect(made(24)).toHaveLength(24);
  expect(made(24).some(({ omitted }) => omitted !== undefined)).toBe(false);
});

test.each([25, 26, 40, 1_000])('of %d, the first and the last are kept, and how many are not', (count) => {
  const kept = made(count);
  expect(kept).toHaveLength(24);
  expect([kept[0]?.code, kept[11]?.code, kept[23]?.code]).toEqual(['N1', 'N12', `N${count}`]);
  expect(kept[12]).toEqual({ code: `N${count - 11}`, omitted: count - 24 });
});

test('a long message is cut, an empty one left out', () => {
  expect(withAttempt([], { message: 'm'.repeat(1_000) })[0]?.message).toHaveLength(200);
  expect(withAttempt([], { code: 'X', message: '' })).toEqual([{ code: 'X' }]);
});

test('of an attempt whose process died nothing is known', () => {
  expect(perhapsCalled(noHistory)).toEqual({
    ...{ attempts: 1, unprocessed: 0, unclear: true },
    earlier: [unknownAttempt],
  });
});
