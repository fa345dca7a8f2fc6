import { expect, test } from 'vitest';
import { DueTimes } from '../../src/dashboard/due-times.ts';

const at = (time: string): number => Date.parse(`2026-11-25T${time}Z`);
const day = (cron: string, time = '12:03:30.000', tz = 'UTC') => new DueTimes().of({ cron, tz }, at(time));

test.each([
  ['once a day, in its own time zone', '30 2 * * *', 'Europe/Berlin', ['2026-11-26T01:30:00.000Z']],
  ['twice, minutes apart', '10,12 14 * * *', 'UTC', ['2026-11-25T14:10:00.000Z']],
  ['in neighboring slots', '14,15 14 * * *', 'UTC', ['2026-11-25T14:14:00.000Z', '2026-11-25T14:15:00.000Z']],
  ['not within a day', '0 0 1 * *', 'UTC', []],
] as const)('the calendar has the first due time of each slot: %s', async (_title, cron, tz, expected) => {
  expect(await day(cron, '12:03:30.000', tz)).toEqual(expected);
});

test.each(['* * * * *', '* * * * * *'])(
  'the day of "%s" is full up to its last slot, and no longer',
  async (cron) => {
    const times = await day(cron);
    // A day of slots of five minutes, and the one in which now is.
    expect(times).toHaveLength(289);
    expect(times[0]).toBe('2026-11-25T12:00:00.000Z');
    expect(times.at(-1)).toBe('2026-11-26T12:00:00.000Z');
  },
);

test('times move on with the slot of now, and are the same within it', async () => {
  const dueTimes = new DueTimes();
  const quarters = { cron: '*/15 * * * *', tz: 'UTC' };
  const first = await dueTimes.of(quarters, at('12:00:00.000'));
  expect(first[0]).toBe('2026-11-25T12:00:00.000Z');
  expect(await dueTimes.of(quarters, at('12:04:59.999'))).toBe(first);
  expect((await dueTimes.of(quarters, at('12:05:00.000')))[0]).toBe('2026-11-25T12:15:00.000Z');
});
