import { expect, test } from 'vitest';
import { readDuration } from '../src/duration.ts';

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

test.each(['', 'ms', 'soon', '-1ms', '1d', '1e3ms', '.5s', '5 minutes', '1h30m'])('%j is none', (text) => {
  expect(readDuration(text)).toBeUndefined();
});
