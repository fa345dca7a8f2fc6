import { expect, test } from 'vitest';
import { clockTime, zoneText } from '../../../src/base/text/local-time.ts';
import { withColors, withoutMarks } from '../../../src/cli/render/style.ts';
import { resultTexts, styledState, timeAgo } from '../../../src/cli/render/words.ts';
import { noOutcomes } from '../../../src/domain/terms.ts';

test.each([
  [new Date(2026, 10, 21, 14, 5), '14:05'],
  [new Date(2026, 10, 22), '22 Nov 00:00'],
  [new Date(2027, 10, 21, 9, 30), '21 Nov 09:30'],
])('the time of day of %s is %s', (date, text) => {
  const zone = zoneText(date);
  expect(clockTime(date, new Date(2026, 10, 21, 9, 0))).toBe(`${text} ${zone}`);
});

const noon = new Date(2026, 10, 21, 12, 0);

test.each([
  [new Date(2026, 10, 21, 11, 59, 40), '20 s ago'],
  [new Date(2026, 10, 21, 12, 5), '0 s ago'],
  [new Date(2026, 10, 21, 11, 0, 1), '59 min ago'],
  [new Date(2026, 10, 21, 0, 5), 'today 00:05'],
  [new Date(2026, 10, 20, 14, 5), 'yesterday 14:05'],
  [new Date(2026, 10, 19, 23, 59), '19 Nov 23:59'],
  [new Date(2025, 10, 21, 12, 0), '21 Nov 2025'],
])('seen at noon, %s is %s', (date, text) => {
  expect(timeAgo(date, noon)).toBe(text);
});

test('the first of January follows on a yesterday of another year', () => {
  expect(timeAgo(new Date(2025, 11, 31, 14, 5), new Date(2026, 0, 1, 12, 0))).toBe('yesterday 14:05');
});

test('a state has its color, and a state of another version none', () => {
  expect(withColors(styledState('halted', 'gave up'))).toBe('\u001b[31mgave up\u001b[39m');
  expect(styledState('frozen')).toBe('frozen');
});

test.each([
  [300, 300, 0, '0 succeeded, 300 were already done'],
  [5, 1, 2, '4 succeeded, 1 was already done, 2 failed'],
  [5, 0, 0, '5 succeeded'],
])('of %i successes, %i were found done, and are counted apart', (succeeded, already, failed, text) => {
  const outcomes = { ...noOutcomes(), succeeded, failed };
  expect(withoutMarks(resultTexts({ outcomes, already_done: already }).join(', '))).toBe(text);
});
