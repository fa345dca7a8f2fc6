import { describe, expect, test } from 'vitest';
import { clockTime, count, counted, duration, perSecond, table } from '../../../src/cli/render/words.ts';
import { zoneText } from '../../../src/local-time.ts';

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
    [9.97, '10/s'],
    [0, '0/s'],
  ])('a rate of %d is %s', (rate, text) => {
    expect(perSecond(rate)).toBe(text);
  });

  test.each([
    [new Date(2026, 10, 21, 14, 5), '14:05'],
    [new Date(2026, 10, 22), '22 Nov 00:00'],
    [new Date(2027, 10, 21, 9, 30), '21 Nov 09:30'],
  ])('the time of day of %s is %s', (date, text) => {
    const zone = zoneText(date);
    expect(clockTime(date, new Date(2026, 10, 21, 9, 0))).toBe(`${text} ${zone}`);
  });

  test('counts have separators and plurals', () => {
    expect([count(1_234_567), count(999.5), count(100), counted(1, 'row'), counted(2, 'row')]).toEqual([
      '1,234,567',
      '1,000',
      '100',
      '1 row',
      '2 rows',
    ]);
  });

  test.each([
    [1, '1 row leaves'],
    [2, '2 rows leave'],
  ])('verbs agree with a count of %d', (rows, text) => {
    expect(counted(rows, 'row', ['leaves', 'leave'])).toBe(text);
  });

  test('tables align their columns', () => {
    const rows = [
      ['a', '10', 'x'],
      ['long', '5', ''],
    ];
    expect(table(rows, [1])).toEqual(['a     10  x', 'long   5']);
  });
});
