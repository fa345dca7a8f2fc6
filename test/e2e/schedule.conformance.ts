import { expect, test } from 'vitest';
import type { HistoryEntry } from '../../src/daemon/schedule/schedule.ts';
import { openScheduleStore } from '../../src/daemon/schedule/store.ts';
import type { TestSandbox } from '../helpers/sandbox.ts';
import { eventually, type Machine } from './redis/machine.ts';

interface Scene {
  readonly home: Machine;
  readonly sandbox: TestSandbox;
}

const boards = (rows: number): string =>
  ['soundboard_id,title', ...Array.from({ length: rows }, (_, row) => `${row + 1},Board ${row}`), ''].join(
    '\n',
  );

const everySecond = ['--cron', '* * * * * *'];
const never = ['--cron', '0 0 29 2 *'];

/** What a daemon makes of a schedule, on each datastore. */
export function describeSchedules(newScene: () => Promise<Scene>): void {
  test('starts its runs on time, never two at once, and none twice, whatever happens', async () => {
    const { home, sandbox } = await newScene();
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
    expect((await history()).at(-1)).toMatchObject({ result: 'began', trigger: { reason: 'a test' } });

    // Paused, it begins what is triggered, and nothing else.
    await ended((await startedRuns()).at(-1));
    await schedule('pause', 'often');
    await schedule('add', 'often', ...everySecond, '--manifest', 'quick.csv', '--replace');
    await schedule('trigger', 'often');
    await eventually(async () => (await startedRuns()).length === 3);
    await ended((await startedRuns()).at(-1));
    expect((await history()).at(-1)).toMatchObject({ result: 'began', trigger: {} });

    // Of the times at which no daemon is there, the last one is made up for.
    await schedule('unpause', 'often');
    await eventually(async () => (await startedRuns()).length === 4);
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
    await eventually(async () => (await schedules.load('often')).paused);
    const runs = await startedRuns();
    for (const run of runs) await ended(run);
    expect((await next.stop()).code).toBe(0);
    await schedule('remove', 'often');

    expect(new Set(runs).size).toBe(runs.length);
    const log = await sandbox.log();
    // A call whose process was killed in the middle of it is made again, and says so.
    const unclear = (await Promise.all(runs.map((run) => home.report(run))))
      .flat()
      .filter((row) => row['_unclear'] === 'yes');
    expect(log.length - unclear.length).toBeLessThanOrEqual(200 + 3 * (runs.length - 1));
    expect(log.length).toBeGreaterThanOrEqual(200 + 3 * (runs.length - 1));
  });
}
