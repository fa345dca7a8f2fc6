import { expect, test } from 'vitest';
import { localTime, timeAgo, timeAhead, zoneText } from '../../../src/base/text/local-time.ts';

test.each([
  [0, 'UTC'],
  [-60, 'UTC+1'],
  [-330, 'UTC+5:30'],
  [210, 'UTC-3:30'],
])('%i minutes behind UTC is the zone %s', (minutes, text) => {
  expect(zoneText({ getTimezoneOffset: () => minutes })).toBe(text);
});

test('a time is read back as the same moment, with its zone', () => {
  const text = localTime('2026-07-01T10:15:04.123Z', 3);
  const [, time = '', zone = ''] = /^(.{23}) (UTC.*)$/.exec(text) ?? [];
  expect(zone).toBe(zoneText(new Date('2026-07-01T10:15:04.123Z')));
  expect(new Date(time).toISOString()).toBe('2026-07-01T10:15:04.123Z');
  expect(localTime('2026-07-01T10:15:04.123Z')).toBe(`${time.slice(0, 19)} ${zone}`);
  expect(localTime('')).toBe('');
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

test.each([
  [new Date(2026, 10, 21, 12, 0, 20), 'in 20 s'],
  [new Date(2026, 10, 21, 11, 59), 'in 0 s'],
  [new Date(2026, 10, 21, 12, 5, 40), 'in 5 min'],
  [new Date(2026, 10, 21, 23, 57), 'in 11 h 57 min'],
  [new Date(2026, 10, 22, 12, 0), '22 Nov 12:00'],
])('seen at noon, %s is %s', (date, text) => {
  expect(timeAhead(date, noon)).toBe(text);
});
