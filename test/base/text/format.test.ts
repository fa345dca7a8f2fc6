import { expect, test } from 'vitest';
import {
  count,
  counted,
  duration,
  exactDuration,
  perSecond,
  readDuration,
  size,
  typedDuration,
} from '../../../src/base/text/format.ts';

test.each([
  ['0.25ms', 0.25],
  ['1.1s', 1_100],
  [' 2 m ', 120_000],
  ['30', 30_000],
])('%j is %d milliseconds', (text, milliseconds) => {
  expect(readDuration(text)).toBe(milliseconds);
});

test.each([
  [500, '500ms'],
  [1_500, '1500ms'],
  [60_000, '1m'],
  [90_000, '90s'],
  [7_200_000, '2h'],
  [0.25, '0.25ms'],
])('%d milliseconds are typed %s', (milliseconds, text) => {
  expect(typedDuration(milliseconds)).toBe(text);
  expect(readDuration(text)).toBe(milliseconds);
});

test.each(['', 'ms', '-1ms', '1d', '1e3ms', '.5s', '5 minutes', '1h30m'])('%j is not a duration', (text) => {
  expect(readDuration(text)).toBeUndefined();
});

test.each([
  ['size', size, [0, 1, 999, 340_000, 1.25e9, 5e15], '0 bytes, 1 byte, 999 bytes, 340 kB, 1.25 GB, 5000 TB'],
  ['duration', duration, [0, 59.6, 200, 3_600, 7_500, 7_199], '0 s, 1 min, 3 min 20 s, 1 h, 2 h 5 min, 2 h'],
  ['time in milliseconds', exactDuration, [339.6, 12_340, 200_000], '340 ms, 12.3 s, 3 min 20 s'],
  ['rate', perSecond, [0, 0.5, 9.87, 9.97, 640.4, 12_345], '0/s, 0.5/s, 9.9/s, 10/s, 640/s, 12,345/s'],
])('a %s is short', (_what, write, values, texts) => {
  expect(values.map((value) => write(value)).join(', ')).toBe(texts);
});

test('counts have separators, plurals and verbs that agree', () => {
  expect([count(1_234_567), count(999.5), count(100)]).toEqual(['1,234,567', '1,000', '100']);
  expect([1, 2].map((rows) => counted(rows, 'row'))).toEqual(['1 row', '2 rows']);
  const verbs = ['leaves', 'leave'] as const;
  expect([1, 2].map((rows) => counted(rows, 'row', verbs))).toEqual(['1 row leaves', '2 rows leave']);
});
