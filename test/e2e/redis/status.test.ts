import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { describeWithRedis, type RedisServer, startRedis } from '../../helpers/redis-server.ts';
import { startSandbox } from '../../helpers/sandbox.ts';
import { eventuallyTold, kindSandbox, type Machine, newMachine } from './machine.ts';

interface Status {
  readonly state: string;
  readonly done: number;
}

const rows = 40;

/**
 * Runs a manifest of which some calls are never answered, and expects `status` and `list` to tell all the others, though no
 * batch with a call that hangs comes to its end.
 */
async function expectNews(
  prefix: string,
  flags: readonly string[],
  redis: Pick<RedisServer, 'url'>,
  help: (helper: Machine) => Promise<unknown> = async () => {},
): Promise<void> {
  const sandbox = await startSandbox(...kindSandbox, '--fault', 'timeout=20%');
  const place = { redis: redis as RedisServer, sandbox, prefix };
  const home = await newMachine(place, rows);
  await help(await newMachine(place));
  const patient = ['--timeout', '100s', '--concurrency', '50'];
  const run = home.start(
    'run',
    'rows.csv',
    '--yes',
    '--run-id',
    'r',
    ...(flags.length > 0 ? flags : patient),
  );
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
}

describe('a run on the embedded datastore', () => {
  test('shows every finished row, even of open batches', () => expectNews('none', [], { url: '' }));
});

describeWithRedis('a run on Redis', () => {
  let redis: RedisServer;
  beforeAll(async () => {
    redis = await startRedis();
  });
  afterAll(() => redis.stop());

  test('shows rows that other machines call', () =>
    expectNews('elsewhere', ['--no-worker'], redis, (helper) =>
      helper.worker('--timeout', '100s', '--concurrency', '50'),
    ));

  test('is shown with all runs in progress until they end', async () => {
    const sandbox = await startSandbox(...kindSandbox);
    const place = { redis, sandbox, prefix: 'several' };
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
