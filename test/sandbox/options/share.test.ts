import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { isInShare, parseShare } from '../../../src/sandbox/options/share.ts';

test.each([
  ['0%', 0],
  ['1%', 10_000],
  ['0.5%', 5_000],
  ['0.0001%', 1],
  ['33.3333%', 333_333],
  [' 100% ', 1_000_000],
])('%s is %d millionths', (text, millionths) => {
  expect(parseShare('--share', text)).toBe(millionths);
});

test.each(['', '1', '0.01', '101%', '100.1%', '-1%', '1 %', '1%%', '0.00001%', '1e1%', 'NaN%'])(
  '%j is no share',
  (text) => {
    expect(() => parseShare('--share', text)).toThrow(/^--share: ".*" is no share/);
  },
);

describe('a share of identifiers', () => {
  const members = (millionths: number, first?: number): number[] =>
    Array.from({ length: 300 }, (_, index) => index + 1).filter((id) => isInShare(id, millionths, first));

  test.each([
    ['2%', undefined, [50, 100, 150, 200, 250, 300]],
    ['1%', 0.7, [70, 170, 270]],
    ['0%', undefined, []],
  ])('of %s (first at %s) is spread evenly', (text, first, expected) => {
    expect(members(parseShare('--share', text), first)).toEqual(expected);
  });

  test('of 100% is all of them', () => {
    expect(members(parseShare('--share', '100%'))).toHaveLength(300);
  });

  test('has its exact number of members among the first million', () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 1_000_000 }), (millionths) => {
        let count = 0;
        for (let id = 1; id <= 1_000_000; id++) if (isInShare(id, millionths)) count++;
        expect(count).toBe(millionths);
      }),
      { numRuns: 10 },
    );
  });
});
