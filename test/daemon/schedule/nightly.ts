import type { Schedule } from '../../../src/daemon/schedule/schedule.ts';

/** A schedule at 02:00 in London, since the first of the month. */
export const nightly: Schedule = {
  version: 1,
  name: 'nightly',
  key: '11111111',
  cron: '0 2 * * *',
  tz: 'Europe/London',
  source: { manifest: '/data/nightly.csv' },
  options: {},
  overlap: 'skip',
  catchUpMs: 3_600_000,
  paused: false,
  since: '2026-11-01T00:00:00.000Z',
  changes: [{ what: 'added', at: '2026-11-01T00:00:00.000Z' }],
};
