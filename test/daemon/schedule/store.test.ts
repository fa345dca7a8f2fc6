import { expect, test } from 'vitest';
import { openScheduleStore } from '../../../src/daemon/schedule/store.ts';
import { temporaryFolder } from '../../helpers/temporary-folder.ts';
import { nightly } from './nightly.ts';

test('of two changes of a schedule at once, none is lost', async () => {
  const stateDir = await temporaryFolder();
  const schedules = openScheduleStore(stateDir);
  await schedules.begin();
  await schedules.add(nightly);
  const by = { user: 'u', host: 'h' };
  await Promise.all([
    schedules.change('nightly', (current) => ({ ...current, cron: '45 2 * * *' })),
    openScheduleStore(stateDir).change('nightly', (current) => ({
      ...current,
      paused: true,
      changes: [{ what: 'paused', at: '2026-11-05T02:30:00.000Z', by }],
    })),
  ]);
  expect(await schedules.load('nightly')).toMatchObject({
    cron: '45 2 * * *',
    paused: true,
    changes: [{ what: 'paused' }],
  });
  await expect(schedules.change('other', (current) => current)).rejects.toMatchObject({
    code: 'SCHEDULE_UNKNOWN',
  });
});
