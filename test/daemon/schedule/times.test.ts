import fc from 'fast-check';
import { expect, test } from 'vitest';
import { timesOf } from '../../../src/daemon/schedule/times.ts';

/** The first times of a pattern after a moment, UTC to the minute. */
async function following(cron: string, tz: string, from: string, count: number): Promise<readonly string[]> {
  const times = await timesOf({ cron, tz });
  const found: string[] = [];
  for (
    let at = times.nextAfter(new Date(from));
    at !== undefined && found.length < count;
    at = times.nextAfter(at)
  )
    found.push(at.toISOString().slice(0, 16));
  return found;
}

const london = 'Europe/London';
const newYork = 'America/New_York';

test.each<[what: string, cron: string, tz: string, from: string, expected: readonly string[]]>([
  [
    'keep their time of day across both changes in London',
    '0 2 * * *',
    london,
    '2026-03-28T00:00Z',
    ['2026-03-28T02:00', '2026-03-29T01:00', '2026-03-30T01:00'],
  ],
  [
    'are not lost in the gap where several are listed, and times that coincide count once',
    '0,30 1,13 * * *',
    london,
    '2026-03-28T20:00Z',
    ['2026-03-29T01:00', '2026-03-29T12:00', '2026-03-29T12:30', '2026-03-30T00:00'],
  ],
  [
    'come once where several are listed',
    '0,30 1 * * *',
    london,
    '2026-10-24T20:00Z',
    ['2026-10-25T00:00', '2026-10-25T00:30', '2026-10-26T01:00'],
  ],
  [
    'follow the clock on the wall where the pattern repeats: twice in the hour that comes twice',
    '*/30 1 * * *',
    newYork,
    '2026-11-01T00:00Z',
    ['2026-11-01T05:00', '2026-11-01T05:30', '2026-11-01T06:00', '2026-11-01T06:30', '2026-11-02T06:00'],
  ],
  ['may have a name', '@daily', 'UTC', '2026-12-30T12:00Z', ['2026-12-31T00:00', '2027-01-01T00:00']],
])('the times of a pattern %s', async (_what, cron, tz, from, expected) => {
  expect(await following(cron, tz, from, expected.length)).toEqual(expected);
});

test('the times of a pattern are not reported before they have come', async () => {
  const { latestUntil } = await timesOf({ cron: '@hourly', tz: london });
  const midnight = new Date('2026-03-29T00:00:00Z');
  expect(latestUntil(new Date(midnight.getTime() - 1))).toEqual(new Date('2026-03-28T23:00:00Z'));
  expect(latestUntil(midnight)).toEqual(midnight);
  expect(latestUntil(new Date(midnight.getTime() + 999))).toEqual(midnight);
});

test('the times of a pattern are the same forwards and backwards, even where clocks change', async () => {
  const crons = ['30 1 * * *', '*/30 1 * * *', '0,30 1,2 * * *', '15 0-3 * * *', '0 2 * * 0', '@hourly'];
  const changes = ['2026-03-29', '2026-10-25', '2026-03-08', '2026-11-01', '2026-07-01'];
  const moment = fc
    .tuple(
      fc.constantFrom(...changes),
      fc.integer({ min: -86_400, max: 2 * 86_400 }),
      fc.constantFrom(0, 1, 999),
    )
    .map(([day, second, ms]) => new Date(Date.parse(`${day}T00:00Z`) + 1_000 * second + ms));
  const recurrence = fc.record({ cron: fc.constantFrom(...crons), tz: fc.constantFrom(london, newYork) });
  await fc.assert(
    fc.asyncProperty(recurrence, moment, async (each, now) => {
      const times = await timesOf(each);
      const latest = times.latestUntil(now);
      expect(latest?.getTime()).toBeLessThanOrEqual(now.getTime());
      const next = times.nextAfter(latest as Date);
      expect(next?.getTime()).toBeGreaterThan(now.getTime());
      expect(times.latestUntil(next as Date)).toEqual(next);
      expect(times.nextAfter(new Date((latest as Date).getTime() - 1_000))).toEqual(latest);
    }),
  );
});

test.each([
  ['0 2 * *', 'it has 4 fields, not five'],
  ['nightly', 'it has one field, not five'],
  ['60 2 * * *', 'Invalid value for minute: 60'],
  ['0 0 30 2 *', 'it never occurs'],
  ['0 0 2 * * 1 2026', 'it has more than six fields'],
])('the times of %s are refused, with what is wrong', async (cron, why) => {
  await expect(timesOf({ cron, tz: london })).rejects.toMatchObject({
    code: 'INVALID_CRON',
    kind: 'usage',
  });
  await expect(timesOf({ cron, tz: london })).rejects.toThrow(`--cron "${cron}": ${why}. Write minute`);
});
