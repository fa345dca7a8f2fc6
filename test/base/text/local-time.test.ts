import { expect, test } from 'vitest';
import { localTime, zoneText } from '../../../src/base/text/local-time.ts';

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
