import { expect, test } from 'vitest';
import { zoneText } from '../../../src/base/text/local-time.ts';
import { clockTime } from '../../../src/cli/render/words.ts';

test.each([
  [new Date(2026, 10, 21, 14, 5), '14:05'],
  [new Date(2026, 10, 22), '22 Nov 00:00'],
  [new Date(2027, 10, 21, 9, 30), '21 Nov 09:30'],
])('the time of day of %s is %s', (date, text) => {
  const zone = zoneText(date);
  expect(clockTime(date, new Date(2026, 10, 21, 9, 0))).toBe(`${text} ${zone}`);
});
