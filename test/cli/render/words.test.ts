import { describe, expect, test } from 'vitest';
import { count, counted, duration, perSecond, table } from '../../../src/cli/render/words.ts';

describe('words', () => {
  test.each([
    [0, '0 s'],
    [59.6, '1 min'],
    [45, '45 s'],
    [200, '3 min 20 s'],
    [3_600, '1 h'],
    [7_500, '2 h 5 min'],
    [7_199, '2 h'],
  ])('a duration of %d seconds is %s', (seconds, text) => {
    expect(duration(seconds)).toBe(text);
  });

  test.each([
    [640.4, '640/s'],
    [12_345, '12,345/s'],
    [0.5, '0.5/s'],
    [9.87, '9.9/s'],
  ])('a rate of %d is %s', (rate, text) => {
    expect(perSecond(rate)).toBe(text);
  });

  test('counts have separators and plurals', () => {
    expect([count(1_234_567), counted(1, 'row'), counted(2, 'row')]).toEqual([
      '1,234,567',
      '1 row',
      '2 rows',
    ]);
  });

  test('tables align their columns', () => {
    const rows = [
      ['a', '10', 'x'],
      ['long', '5', ''],
    ];
    expect(table(rows, [1])).toEqual(['a     10  x', 'long   5']);
  });
});
