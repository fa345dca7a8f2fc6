import { expect, test } from 'vitest';
import { differingOptions } from '../../../../src/engine/run/record/differing-options.ts';

test('options differ by their values, whether each set has them or only one', () => {
  const before = { rate: { perSecond: 20 }, attempts: 5, html: false, map: { a: 'b' } };
  const now = { rate: { perSecond: 5 }, attempts: 5, trim: true, map: { a: 'b' } };
  expect(differingOptions(before, now)).toEqual([
    { name: 'rate', before: { perSecond: 20 }, now: { perSecond: 5 } },
    { name: 'trim', before: undefined, now: true },
    { name: 'html', before: false, now: undefined },
  ]);
});
