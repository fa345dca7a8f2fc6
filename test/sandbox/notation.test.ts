import { expect, test } from 'vitest';
import { parseDuration, parseDurationRange, parseShare } from '../../src/sandbox/notation.ts';

test('a duration is between 0 and the longest time that a timer can wait', () => {
  expect(parseDuration('--latency', '0')).toBe(0);
  expect(parseDuration('--latency', '596.5h')).toBe(2_147_400_000);
});

test.each(['', 'soon', '-1ms', '597h'])('%j is not a duration', (text) => {
  expect(() => parseDuration('--latency', text)).toThrow(
    /^--latency: ".*" is not a duration; write it as 50ms/,
  );
});

test.each([
  ['20ms..80ms', { min: 20, max: 80 }],
  ['0ms .. 1', { min: 0, max: 1000 }],
])('%s is a range', (text, range) => {
  expect(parseDurationRange('--latency', text)).toEqual(range);
});

test.each(['80ms..20ms', '1ms..2ms..3ms', '1ms..'])('%j is not a range', (text) => {
  expect(() => parseDurationRange('--latency', text)).toThrow(/^--latency: /);
});

test.each([
  ['0%', 0],
  ['0.0001%', 1],
  ['33.3333%', 333_333],
  [' 100% ', 1_000_000],
])('%s is %d millionths', (text, millionths) => {
  expect(parseShare('--share', text)).toBe(millionths);
});

test.each(['', '1', '100.1%', '-1%', '0.00001%', '1e1%'])('%j is not a share', (text) => {
  expect(() => parseShare('--share', text)).toThrow(/^--share: ".*" is not a share/);
});
