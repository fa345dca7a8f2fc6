import { expect, test } from 'vitest';
import { parseDuration, parseDurationRange } from '../../../src/sandbox/options/duration.ts';

test.each([
  ['0ms', 0],
  ['50ms', 50],
  ['1.5s', 1500],
  ['0.25ms', 0.25],
  [' 2m ', 120_000],
  ['1.1s', 1100],
  ['24h', 86_400_000],
  ['50', 50_000],
  ['1 s', 1000],
])('%s is %d milliseconds', (text, milliseconds) => {
  expect(parseDuration('--latency', text)).toBe(milliseconds);
});

test.each(['', 'ms', '-1ms', '1d', '1e3ms', '.5s', '99999999m'])('%j is no duration', (text) => {
  expect(() => parseDuration('--latency', text)).toThrow(/^--latency: ".*" is no duration/);
});

test.each([
  ['50ms', { min: 50, max: 50 }],
  ['20ms..80ms', { min: 20, max: 80 }],
  ['0ms..1s', { min: 0, max: 1000 }],
])('%s is a range', (text, range) => {
  expect(parseDurationRange('--latency', text)).toEqual(range);
});

test.each(['80ms..20ms', '1ms..2ms..3ms', '..', '1ms..', '..1ms'])('%j is no range', (text) => {
  expect(() => parseDurationRange('--latency', text)).toThrow(/^--latency: /);
});
