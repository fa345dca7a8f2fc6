import { expect, test } from 'vitest';
import { describeWithRedis } from '../../helpers/redis-server.ts';
import { eventuallyTold, newMachine, placesOnRedis } from './machine.ts';

interface Status {
  readonly state: string;
  readonly done: number;
}

describeWithRedis('a run on Redis', () => {
  const newPlace = placesOnRedis();

  test('shows rows that other machines call, though no batch with a call that hangs comes to its end', async () => {
    const rows = 40;
    const place = await newPlace('--fault', 'timeout=20%');
    const { sandbox } = place;
    const home = await newMachine(place, rows);
    await (await newMachine(place)).worker('--timeout', '1h', '--concurrency', '50');
    const run = home.start('run', 'rows.csv', '--yes', '--run-id', 'r', '--no-worker');
    await sandbox.requested(rows);
    const answered = (await sandbox.log()).filter(({ fault }) => fault === null).length;
    expect(answered).toBeGreaterThan(rows / 2);
    expect(answered).toBeLessThan(rows);
    await eventuallyTold(async () => (await home.json<Status>('status', 'r')).done === answered);
    expect(await home.json<Status>('status', 'r')).toMatchObject({ state: 'running', done: answered });
    await eventuallyTold(async () => {
      const { runs } = await home.json<{ runs: readonly { done: number }[] }>('list');
      return runs[0]?.done === answered;
    });
    // Killed now, it has lost sight of nothing.
    run.kill('SIGKILL');
    await run.end;
    expect(await home.json<Status>('status', 'r')).toMatchObject({ done: answered });
  });

  test('is shown with all runs in progress until they end', async () => {
    const place = await newPlace();
    const home = await newMachine(place, 60);
    const elsewhere = await newMachine(place);
    await elsewhere.write('rows.csv', 'evaluation_id,user_id\n2999,u\n99999999,u\n');
    await home.run('submit', 'rows.csv', '--yes', '--run-id', 'here');
    const other = elsewhere.start('run', 'rows.csv', '--yes', '--run-id', 'there', '--no-worker');
    await eventuallyTold(async () => (await home.json<{ runs: object[] }>('list')).runs.length === 2);
    const watching = home.start('status', '--watch', '--json');
    await watching.says('Run here submitted');
    await watching.says('Run there running');
    const daemon = await home.worker('--coordinate');

    const { code, stdout } = await watching.end;
    expect(JSON.parse(stdout)).toMatchObject({
      runs: [
        { run: 'here', state: 'completed', outcomes: { succeeded: 60 } },
        { run: 'there', state: 'completed', outcomes: { succeeded: 1, failed: 1 } },
      ],
    });
    // That of the one that came off worse.
    expect(code).toBe(1);
    expect((await other.end).code).toBe(1);
    expect((await daemon.stop()).code).toBe(0);
  });
});
