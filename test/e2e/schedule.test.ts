import { mkdir, readdir, readFile, rename } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { HistoryEntry } from '../../src/daemon/schedule/schedule.ts';
import { openScheduleStore } from '../../src/daemon/schedule/store.ts';
import { httpServer } from '../engine/api/local-server.ts';
import { anyDatastore } from '../helpers/any-datastore.ts';
import { newHome } from './home.ts';
import { eventually } from './redis/machine.ts';

const boards = (rows: number): string =>
  ['soundboard_id,title', ...Array.from({ length: rows }, (_, row) => `${row + 1},Board ${row}`), ''].join(
    '\n',
  );

const everySecond = ['--cron', '* * * * * *'];
const never = ['--cron', '0 0 29 2 *'];

test('a schedule starts its runs on time, never two at once, and none twice, whatever happens', async () => {
  const { sandbox, ...home } = await newHome(0, [], {});
  await home.write('slow.csv', boards(200));
  await home.write('quick.csv', boards(3));
  const schedule = async (...args: string[]) => {
    const { code, stdout, stderr } = await home.run('schedule', ...args);
    expect({ code, stderr: code === 0 ? '' : stderr }).toEqual({ code: 0, stderr: '' });
    return stdout;
  };
  const schedules = openScheduleStore(home.stateDir);
  const history = async (): Promise<readonly HistoryEntry[]> => (await schedules.state('often')).history;
  const startedRuns = async (): Promise<readonly string[]> =>
    (await history()).flatMap((entry) => (entry.result === 'began' ? entry.runs : []));
  const ended = (run = '') => eventually(async () => (await home.stateOf(run)) === 'completed');

  await schedule('add', 'often', ...everySecond, '--manifest', 'slow.csv', '--rate', '1/s');
  const daemon = await home.worker('--coordinate');
  await eventually(async () => (await history()).some(({ result }) => result === 'skipped'));
  const [slow = ''] = await startedRuns();
  expect(slow).toMatch(/^often-\d{8}-\d{6}$/);
  expect((await history()).at(-1)).toMatchObject({ because: slow });

  // Another one from now on; the run that is going is left alone.
  const queueing = ['--overlap', 'queue', '--replace'];
  await schedule('add', 'often', ...never, '--manifest', 'quick.csv', ...queueing);
  expect(await schedule('trigger', 'often', '--reason', 'a test')).toContain(`when run ${slow} has ended`);
  await eventually(async () => (await schedules.state('often')).waiting !== undefined);
  expect(await startedRuns()).toEqual([slow]);
  expect((await home.run('set-rate', slow, 'none')).code).toBe(0);
  await eventually(async () => (await startedRuns()).length === 2);
  expect(await home.stateOf(slow)).toBe('completed');

  // Of the times at which no daemon is there, the last one is made up for.
  await ended((await startedRuns()).at(-1));
  await schedule('add', 'often', ...everySecond, '--manifest', 'quick.csv', '--replace');
  await eventually(async () => (await startedRuns()).length >= 3);
  daemon.kill('SIGKILL');
  await daemon.end;
  const before = await startedRuns();
  const killedAt = Date.now();
  await eventually(() => Date.now() > killedAt + 2_500);
  const next = await home.worker('--coordinate');
  await eventually(async () => (await startedRuns()).length > before.length + 1);
  // The first of those that were missed may have come while the daemon, killed since, was busy with the one before.
  expect(
    (await history()).some(
      (entry) => entry.result === 'missed' && Date.parse(entry.until ?? entry.due) > killedAt,
    ),
  ).toBe(true);
  await schedule('pause', 'often');
  const runs = await startedRuns();
  for (const run of runs) await ended(run);
  expect((await next.stop()).code).toBe(0);
  await schedule('remove', 'often', '--yes');

  expect(new Set(runs).size).toBe(runs.length);
  const log = await sandbox.log();
  // A call whose process was killed in the middle of it is made again, and says so.
  const unclear = (await Promise.all(runs.map((run) => home.report(run))))
    .flat()
    .filter((row) => row['_unclear'] === 'yes');
  expect(log.length - unclear.length).toBeLessThanOrEqual(200 + 3 * (runs.length - 1));
  expect(log.length).toBeGreaterThanOrEqual(200 + 3 * (runs.length - 1));
});

test('a schedule of an inbox runs each content once, moves it to its final folder, and reports the result', async () => {
  const told: { readonly text: string; readonly exit_code: number }[] = [];
  const { url } = await httpServer((response, { body }) => {
    told.push(JSON.parse(body));
    response.end('ok');
  });
  const { sandbox, ...home } = await newHome(0, [], {
    ...anyDatastore(),
    CQBATCH_NOTIFY_URL: url,
    CQBATCH_SETTLE: '1ms',
  });
  const drop = async (name: string, text: string): Promise<void> => {
    await home.write(`.${name}`, text);
    await rename(join(home.cwd, `.${name}`), join(home.cwd, 'inbox', name));
  };
  const files = async (folder: string) => (await readdir(join(home.cwd, 'inbox', folder))).toSorted();
  const board = (id: number): string => `soundboard_id,title\n${id},Hello\n`;

  const add = ['schedule', 'add', 'in', '--cron', '* * * * * *', '--inbox', 'inbox'];
  await mkdir(join(home.cwd, 'inbox'));
  expect((await home.run(...add)).code).toBe(0);
  for (const id of [1, 2, 3]) await drop(`week ${id} 🎧.csv`, board(id));
  await drop('bad.csv', 'soundboard_id,title\nx,Hello\n');
  const daemon = await home.worker('--coordinate');
  await sandbox.requested(3);
  daemon.kill('SIGKILL');
  await daemon.end;
  // A daemon that is killed when a run has just ended does not report it.
  await drop('half.csv', 'evaluation_id,user_id\n1,u\n50,u\n');
  const next = await home.worker('--coordinate', '--keep-last', '9');
  await eventually(async () => (await files('running')).length === 0 && (await files('done')).length === 3);
  await eventually(() => told.some(({ exit_code: code }) => code === 1));
  // On a slow machine, that it came too late for some second is told with the same code.
  await eventually(() => told.some(({ exit_code: code, text }) => code === 2 && text.includes('bad.csv')));
  await eventually(async () => (await files('partial')).length === 3);
  expect((await next.stop()).code).toBe(0);

  const calls = (await sandbox.log()).map(({ operation, id }) => `${operation} ${id}`);
  expect(new Set(calls).size).toBe(5);
  const { runs } = await home.json<{ runs: readonly { run: string }[] }>('list');
  const rows = (await Promise.all(runs.map(({ run }) => home.report(run)))).flat();
  expect(rows).toHaveLength(5);
  // What a killed process may have called is called again, and says so.
  expect(calls.length - 5).toBeLessThanOrEqual(rows.filter((row) => row['_unclear'] === 'yes').length);
  expect(await files('failed')).toHaveLength(3);
});

test('a waiting run can be cancelled beside the daemon of the embedded datastore', async () => {
  const { sandbox, ...home } = await newHome(0, [], {});
  await home.write('boards.csv', boards(100));
  const daemon = await home.worker('--coordinate');
  await home.run('submit', 'boards.csv', '--yes', '--run-id', 'first', '--rate', '1/s');
  await eventually(async () => (await home.stateOf('first')) === 'running');
  await eventually(
    async () => JSON.parse((await home.run('schedule', 'list', '--json')).stdout).daemon !== null,
  );
  const second = await home.run('submit', 'boards.csv', '--yes', '--run-id', 'second');
  expect(second.stderr).not.toContain('no daemon is running');
  expect(await home.run('run', 'boards.csv', '--yes')).toMatchObject({
    code: 5,
    stderr: expect.stringMatching(
      /The state folder \.cqbatch is in use by process \d+ on .* \(a daemon, since .*\)\. Submit a file .* or a run that stopped \("cqbatch resume RUN --submit"\)/,
    ),
  });
  expect(await home.run('cancel', 'second', '--yes')).toMatchObject({
    code: 0,
    stdout: expect.stringContaining('Run second will be cancelled when its turn comes'),
  });
  expect((await home.run('cancel', 'first', '--yes')).code).toBe(0);
  const called = (await sandbox.log()).length;
  await eventually(async () => (await home.stateOf('second')) === 'cancelled');
  expect((await daemon.stop()).code).toBe(0);
  expect(await sandbox.log()).toHaveLength(called);
});

test('a schedule cannot be removed or replaced while it starts a run', async () => {
  const home = await newHome(0, [], {});
  const add = ['schedule', 'add', 'nightly', '--cron', '0 2 * * *', '--manifest'];
  expect((await home.run(...add, 'rows.csv')).code).toBe(0);
  // As a daemon that is planning a large manifest.
  const planning = await openScheduleStore(home.stateDir).lock('nightly');
  const changes = [
    [...add, 'other.csv', '--replace'],
    ['schedule', 'remove', 'nightly', '--yes'],
  ];
  for (const change of changes)
    expect(await home.run(...change)).toMatchObject({
      code: 5,
      stderr: expect.stringContaining('A run of schedule nightly may be starting: this process'),
    });
  await planning.release();
  for (const change of changes) expect((await home.run(...change)).code).toBe(0);
});

test('settings that require a reason require it of each change of a schedule', async () => {
  const home = await newHome(0, [], { CQBATCH_REQUIRE_REASON: 'yes' });
  const add = ['add', 'nightly', '--cron', '0 2 * * *', '--manifest', 'rows.csv'];
  const changes = [add, ['pause', 'nightly'], ['unpause', 'nightly'], ['trigger', 'nightly']];
  for (const change of [...changes, [...add, '--replace'], ['remove', 'nightly', '--yes']]) {
    expect(await home.run('schedule', ...change)).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('The settings require a reason'),
    });
    expect((await home.run('schedule', ...change, '--reason', 'week 47')).code).toBe(0);
  }
  const removed = await readFile(join(home.stateDir, 'schedules', 'removed.jsonl'), 'utf8');
  expect(JSON.parse(removed)).toMatchObject({ schedule: 'nightly', reason: 'week 47' });
});
