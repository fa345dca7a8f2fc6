import { expect, test } from 'vitest';
import {
  count,
  counted,
  duration,
  exactDuration,
  perSecond,
  readDuration,
  size,
} from '../../../src/base/text/format.ts';

test.each([
  ['0ms', 0],
  ['500ms', 500],
  ['0.25ms', 0.25],
  ['30s', 30_000],
  ['1.1s', 1_100],
  [' 2 m ', 120_000],
  ['24h', 86_400_000],
  ['30', 30_000],
  ['0.5', 500],
])('%j is %d milliseconds', (text, milliseconds) => {
  expect(readDuration(text)).toBe(milliseconds);
});

test.each(['', 'ms', 'soon', '-1ms', '1d', '1e3ms', '.5s', '5 minutes', '1h30m'])(
  '%j is not a duration',
  (text) => {
    expect(readDuration(text)).toBeUndefined();
  },
);

test.each([
  [0, '0 bytes'],
  [1, '1 byte'],
  [999, '999 bytes'],
  [340_000, '340 kB'],
  [1_250_000_000, '1.25 GB'],
  [2 * 1024 ** 3, '2.15 GB'],
  [4e9, '4 GB'],
  [5e15, '5000 TB'],
])('a size of %d bytes is %s', (bytes, text) => {
  expect(size(bytes)).toBe(text);
});

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

test.each([
  [339.6, '340 ms'],
  [12_340, '12.3 s'],
  [200_000, '3 min 20 s'],
])('%d ms are %s', (ms, text) => {
  expect(exactDuration(ms)).toBe(text);
});
