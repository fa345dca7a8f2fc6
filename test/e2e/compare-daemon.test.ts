import { mkdir, readdir, rename } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { openScheduleStore } from '../../src/daemon/schedule/store.ts';
import { anyDatastore } from '../helpers/any-datastore.ts';
import { asUsersHaveIt } from '../helpers/cqbatch.ts';
import { newHome } from './home.ts';
import { eventually } from './redis/machine.ts';
import { calledIds, editElsewhere, entries, renamedCsv, withChanges } from './soundboards.ts';

const comparing = (env: Readonly<Record<string, string>> = {}) =>
  newHome(renamedCsv(3), ['--soundboards', '9', '--updates', 'replace'], { ...asUsersHaveIt, ...env });

test('a submitted run is compared again by the daemon that starts it, and undone by it', async () => {
  const { sandbox, ...home } = await comparing();
  const before = entries(sandbox);
  const submitted = ['submit', 'rows.csv', '--compare', '--yes', '--run-id', 'r'];
  expect(await home.run(...submitted)).toMatchObject({ code: 0, stdout: 'r\n' });
  await editElsewhere(sandbox, 2, { description: 'Theirs' });
  const theirs = { 2: { description: 'Theirs' } };
  const daemon = await home.worker('--coordinate');
  await eventually(async () => (await home.stateOf('r')) === 'completed');
  expect((await daemon.stop()).code).toBe(0);
  expect((await home.report('r')).map(({ _code }) => _code)).toEqual(['OK', 'CHANGED_SINCE', 'OK']);
  const titles = { 1: { title: 'New 1' }, 3: { title: 'New 3' } };
  expect(entries(sandbox)).toEqual(withChanges(before, { ...titles, ...theirs }));
  // The terminal belongs to the daemon's log: it shows no progress of reading lists.
  expect(daemon.stderr.split('\n').filter((line) => line !== '' && !line.startsWith('{'))).toEqual([]);

  expect(await home.run('undo', 'r', '--yes')).toMatchObject({ code: 0 });
  expect(entries(sandbox)).toEqual(withChanges(before, theirs));
});

test('a daemon whose service no longer lists sends nothing, and the run can be resumed', async () => {
  const { sandbox, ...home } = await comparing();
  await home.run('submit', 'rows.csv', '--compare', '--yes', '--run-id', 'r');
  sandbox.configure({ lists: 'forbidden' });
  const daemon = await home.worker('--coordinate');
  await eventually(async () => (await home.stateOf('r')) === 'failed');
  expect((await daemon.stop()).code).toBe(0);
  expect(daemon.logged('the work on the run has failed')).toMatchObject([
    { err: expect.stringContaining('The API does not let you list soundboards') },
  ]);
  expect(await calledIds(sandbox)).toEqual([]);
  sandbox.configure({ lists: 'served' });
  expect(await home.run('resume', 'r')).toMatchObject({ code: 0 });
});

test('a schedule compares each of its runs with what is there at that time', async () => {
  const { sandbox, ...home } = await comparing();
  const before = entries(sandbox);
  const never = ['--cron', '0 0 29 2 *'];
  const options = ['--manifest', 'rows.csv', '--compare', '--allow-empty'];
  expect(await home.run('schedule', 'add', 'weekly', ...never, ...options)).toMatchObject({ code: 0 });
  const daemon = await home.worker('--coordinate');
  const schedules = openScheduleStore(home.stateDir);
  const runs = async () =>
    (await schedules.state('weekly')).history.flatMap((entry) =>
      entry.result === 'began' ? entry.runs : [],
    );
  const next = async (nth: number) => {
    expect(await home.run('schedule', 'trigger', 'weekly')).toMatchObject({ code: 0 });
    await eventually(async () => (await runs()).length === nth);
    const run = (await runs()).at(-1) ?? '';
    await eventually(async () => (await home.report(run)).length > 0);
    return (await home.report(run)).map(({ _code }) => _code);
  };
  expect(await next(1)).toEqual(['OK', 'OK', 'OK']);
  await editElsewhere(sandbox, 2, { title: 'Theirs' });
  expect(await next(2)).toEqual(['AS_WANTED', 'OK', 'AS_WANTED']);
  const titles = [1, 2, 3].map((id) => [id, { title: `New ${id}` }]);
  expect(entries(sandbox)).toEqual(withChanges(before, Object.fromEntries(titles)));
  expect((await daemon.stop()).code).toBe(0);
});

test('a folder that is watched is compared, and a manifest whose entries do not exist is refused', async () => {
  const { sandbox, ...home } = await comparing({ ...anyDatastore(), CQBATCH_SETTLE: '1ms' });
  const before = entries(sandbox);
  await mkdir(join(home.cwd, 'inbox'));
  const drop = async (name: string, text: string) => {
    await home.write(`.${name}`, text);
    await rename(join(home.cwd, `.${name}`), join(home.cwd, 'inbox', name));
  };
  await drop('good.csv', 'soundboard_id,title\n1,New 1\n2,Recording 2\n');
  await drop('bad.csv', 'soundboard_id,title\n999,New\n');
  const { stderr } = await home.run('watch', 'inbox', '--once', '--yes', '--compare');
  expect(stderr).toContain('bad.csv:2: row 1, soundboard_id: does not exist (999)');
  expect(await calledIds(sandbox)).toEqual(['1']);
  expect(entries(sandbox)).toEqual(withChanges(before, { 1: { title: 'New 1' } }));
  const names = async (folder: string) => (await readdir(join(home.cwd, 'inbox', folder))).join(' ');
  expect(await names('done')).toContain('good');
  expect(await names('failed')).toContain('bad');
});
