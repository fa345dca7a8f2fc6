import { expect, test } from 'vitest';
import { clockTime, zoneText } from '../../../src/base/text/local-time.ts';
import { withColors, withoutMarks } from '../../../src/cli/render/style.ts';
import { resultTexts, styledRunState, styledState } from '../../../src/cli/render/words.ts';
import { noOutcomes } from '../../../src/domain/terms.ts';

test.each([
  [new Date(2026, 10, 21, 14, 5), '14:05'],
  [new Date(2026, 10, 22), '22 Nov 00:00'],
  [new Date(2027, 10, 21, 9, 30), '21 Nov 09:30'],
])('the time of day of %s is %s', (date, text) => {
  const zone = zoneText(date);
  expect(clockTime(date, new Date(2026, 10, 21, 9, 0))).toBe(`${text} ${zone}`);
});

test('a state has its color, and a state of another version none', () => {
  expect(withColors(styledState('halted', 'gave up'))).toBe('\u001b[31mgave up\u001b[39m');
  expect(styledState('frozen')).toBe('frozen');
});

test('a completed run is green, and yellow if rows are unclear', () => {
  expect(withColors(styledRunState({ state: 'completed', local: { unclear: 0 } }))).toBe(
    '\u001b[32mcompleted\u001b[39m',
  );
  expect(withColors(styledRunState({ state: 'completed', local: { unclear: 2 } }))).toBe(
    '\u001b[33mcompleted\u001b[39m',
  );
  expect(withColors(styledRunState({ state: 'halted', because: 'stuck', local: { unclear: 2 } }))).toBe(
    '\u001b[31mgave up\u001b[39m',
  );
});

test.each([
  [300, 300, 0, '0 succeeded, 300 were already done'],
  [5, 1, 2, '4 succeeded, 1 was already done, 2 failed'],
  [5, 0, 0, '5 succeeded'],
])('of %i successes, %i were found done, and are counted apart', (succeeded, already, failed, text) => {
  const outcomes = { ...noOutcomes(), succeeded, failed };
  expect(withoutMarks(resultTexts({ outcomes, already_done: already }).join(', '))).toBe(text);
});
