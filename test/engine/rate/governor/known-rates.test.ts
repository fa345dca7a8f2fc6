import { expect, test } from 'vitest';
import { gainOf, KnownRates } from '../../../../src/engine/rate/governor/known-rates.ts';

test('a refusal never leaves a higher rate than was sent', () => {
  const refused = {
    sentPerSecond: 40,
    cycle: { acceptedCalls: 500, activeSeconds: 10, waitedSeconds: 0 },
    isCostly: false,
  };
  const known = () => {
    const rates = new KnownRates();
    rates.searchFailed({ ...refused, sentPerSecond: 60 });
    return rates;
  };
  expect(known().sustainedRate).toBeGreaterThan(40);
  expect(known().searchFailed(refused)).toBe(40);
  expect(known().holdFailed(refused, 10_000)).toBe(40);
  expect(known().probeFailed(refused)).toBe(40);
});

test.each([
  ['it was too short', { acceptedCalls: 50, activeSeconds: 0.5, waitedSeconds: 0 }],
  ['too few calls were made', { acceptedCalls: 1, activeSeconds: 10, waitedSeconds: 0 }],
])('a time between two refusals does not show what an allowance gains when %s', (_why, cycle) => {
  expect(gainOf(cycle)).toBeUndefined();
});
