import { mkdir, readdir, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { operations } from '../../../../jobs/index.ts';
import { silentLog } from '../../../../src/base/log.ts';
import { inboxFinisher, startScheduledRun } from '../../../../src/cli/commands/daemon/start-scheduled-run.ts';
import type { Schedule } from '../../../../src/daemon/schedule/schedule.ts';
import { type LimitedApi, noOutcomes } from '../../../../src/domain/terms.ts';
import { enterState } from '../../../../src/engine/run/record/record.ts';
import { openRunStore } from '../../../../src/engine/run/record/store.ts';
import { inboxPlace } from '../../../daemon/inbox/inbox-place.ts';
import { nightly } from '../../../daemon/schedule/nightly.ts';
import { temporaryFolder } from '../../../helpers/temporary-folder.ts';

const baseUrl = 'https://api.example.com';

test('an inbox is opened once, and again when something of it is missing', async () => {
  const folder = await temporaryFolder();
  const inbox = join(folder, 'inbox');
  await mkdir(inbox);
  const store = openRunStore(join(folder, 'state'), operations);
  const finish = inboxFinisher({ store, settings: {} }, silentLog);
  const names = async () => (await readdir(inbox)).toSorted();
  await finish(inbox);
  const all = await names();
  expect(all).toContain('done');
  await rm(join(inbox, 'done'), { recursive: true });
  await finish(inbox);
  expect(await names()).not.toContain('done');
  const records = join(inbox, '.cqbatch-inbox');
  await rename(records, `${records}.renamed`);
  for (let attempt = 0; attempt < 2; attempt += 1)
    await expect(finish(inbox)).rejects.toMatchObject({ code: 'INBOX_RECORDS_MISSING' });
  await rename(`${records}.renamed`, records);
  await finish(inbox);
  expect(await names()).toEqual(all);
});

test('a schedule that chooses no row fails, until it allows a run without a call', async () => {
  const { begin } = await dailySchedule('evaluation_id,user_id,deleted_at\n1,u,2026-11-02\n');
  expect(await begin(3, { where: ['deleted_at>=2026-11-02'] })).toMatchObject({ result: 'began' });
  const where = ['deleted_at>=2026-11-03'];
  expect(await begin(4, { where })).toEqual(
    failed('deleted_at has 2026-11-02 (1). If that is right, pass --allow-empty.', 'MANIFEST_REFUSED'),
  );
  expect(await begin(5, { where, allowEmpty: true })).toMatchObject({ result: 'began' });
  expect(await begin(6, { where: [''] })).toMatchObject({ result: 'failed', code: 'INVALID_SETTING' });
});

test('a schedule fails if the daemon calls the API itself, and has no token for the rate group of the schedule', async () => {
  const { store, begin } = await dailySchedule('evaluation_id,user_id\n1,u\n', { rateGroup: 'acme' });
  const acme = { baseUrl, rateGroup: 'acme' };
  expect(await begin(1, { rateGroup: 'other' }, acme)).toEqual(
    failed('for the rate group acme, not for the rate group other: start it', 'INVALID_SETTING'),
  );
  expect(await begin(2, { baseUrl: 'https://other.example.com' }, acme)).toEqual(
    failed('it is for https://other.example.com, not https://api.example.com'),
  );
  expect(await store.list()).toEqual([]);
  expect(await begin(3, {}, acme)).toMatchObject({ result: 'began' });
  expect(await begin(4, { rateGroup: 'other' })).toMatchObject({ result: 'began' });
});

test('a manifest whose run stopped for a reason that would stop others stays, and the next occasion continues its run', async () => {
  const { drop, inbox, stateDir, files } = await inboxPlace();
  const store = openRunStore(stateDir, operations);
  const begin = async () => {
    const daemon = { store, flags: { stateDir, baseUrl } };
    const schedule = { ...nightly, source: { inbox }, options: { settle: '1ms' } };
    return startScheduledRun(daemon, schedule, { due: '2026-11-01T02:00:00.000Z' }, async () => {});
  };
  await drop('rows.csv', 'evaluation_id,user_id\n1,u\n');
  let run = '';
  await expect
    .poll(async () => {
      const began = await begin();
      run = 'runs' in began ? (began.runs[0] ?? '') : '';
      return run;
    })
    .not.toBe('');
  const finishInbox = inboxFinisher({ store, settings: {} }, silentLog);
  const submitted = await store.load(run);
  const stuck = enterState(submitted, 'halted', { because: 'stuck', reason: 'no answer' });
  await store.save({ ...stuck, counts: { ...noOutcomes(), succeeded: 1 } });
  await finishInbox(inbox);
  expect(await files()).toEqual([expect.stringContaining('running/rows.')]);
  expect(await begin()).toEqual({ result: 'began', runs: [run], refused: [] });
  expect(await store.load(run)).toMatchObject({ state: 'submitted' });
  await store.save(enterState(submitted, 'cancelled'));
  await finishInbox(inbox);
  expect((await files()).filter((path) => path.endsWith('.csv'))).toContainEqual(
    expect.stringContaining('failed/rows.'),
  );
  expect(await begin()).toEqual({ result: 'began', runs: [], refused: [] });
});

/** Begins the runs of a schedule for a manifest with these rows; its daemon has these flags. */
async function dailySchedule(rows: string, flags: { readonly rateGroup?: string } = {}) {
  const folder = await temporaryFolder();
  const stateDir = join(folder, 'state');
  const manifest = join(folder, 'rows.csv');
  await writeFile(manifest, rows);
  const store = openRunStore(stateDir, operations);
  const begin = (day: number, options: Schedule['options'] = {}, api?: LimitedApi) => {
    const daemon = { store, flags: { stateDir, baseUrl, ...flags }, api };
    const schedule = { ...nightly, source: { manifest }, options };
    return startScheduledRun(daemon, schedule, { due: `2026-11-0${day}T02:00:00.000Z` }, async () => {});
  };
  return { store, begin };
}

/** A run that was not started for this reason. */
const failed = (text: string, code: unknown = expect.any(String)) => ({
  result: 'failed',
  code,
  message: expect.stringContaining(text),
});
