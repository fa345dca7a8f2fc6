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
  test('tells of all rows that are finished, also of batches that stay open', () =>
    expectNews('none', [], { url: '' }));
});

describeWithRedis('a run on Redis', () => {
  let redis: RedisServer;
  beforeAll(async () => {
    redis = await startRedis();
  });
  afterAll(() => redis.stop());

  test('tells of all rows that are finished, also of batches that stay open', () =>
    expectNews('own', [], redis));

  test('tells of rows that are called elsewhere', () =>
    expectNews('elsewhere', ['--no-worker'], redis, (helper) =>
      helper.worker('--timeout', '100s', '--concurrency', '50'),
    ));
});
