import type { Redis } from 'ioredis';
import { expect, test } from 'vitest';
import { withSpare } from '../../../src/engine/worker/prefetch.ts';
import { adminOf, describeWithRedis, redisForTest } from '../../helpers/redis-server.ts';
import { startSandbox } from '../../helpers/sandbox.ts';
import { callsByRow, expectAgreement, expectEveryRowOnce } from '../agreement.ts';
import { eventually, eventuallyTold, kindSandbox, newMachine } from './machine.ts';

const rows = 300;
const concurrency = 4;
const runArgs = ['run', 'rows.csv', '--yes', '--run-id', 'r', '--concurrency', `${concurrency}`];

async function newPlace() {
  const sandbox = await startSandbox(...kindSandbox, '--latency', '10ms');
  return { redis: await redisForTest(), sandbox, prefix: 'away' };
}

describeWithRedis('a Redis that goes away', () => {
  test('is waited for and reported, and no row is lost', async () => {
    const place = await newPlace();
    const home = await newMachine(place, rows);
    const worker = await (await newMachine(place)).worker('--concurrency', '4');
    const run = home.start(...runArgs);
    await place.sandbox.requested(50);
    await place.redis.kill();
    const before = (await place.sandbox.log()).length;
    await run.says(`waiting: Redis at ${place.redis.url} does not answer`);
    await worker.says('waiting for the datastore');
    // Other processes say so, too.
    await eventuallyTold(async () => /waiting: Redis at/.test((await home.run('status')).stdout));
    // No call begins that is not written down before: only those follow that both processes had in hand.
    const after = (await place.sandbox.log()).length - before;
    expect(after).toBeLessThanOrEqual(2 * withSpare(concurrency));
    await place.redis.restart();

    const { code, stderr } = await run.end;
    expect({ code, stderr }).toMatchObject({ code: 0 });
    await worker.says('the datastore is back');
    const report = await home.report('r');
    expectEveryRowOnce(report, rows);
    expectAgreement(report, await place.sandbox.log(), { killed: true });
    expect((await worker.stop()).code).toBe(0);
  });

  test('does not block a user who stops the run, and resume finishes it', async () => {
    const place = await newPlace();
    const home = await newMachine(place, rows);
    const worker = await (await newMachine(place)).worker('--concurrency', '4');
    const run = home.start(...runArgs, '--no-worker');
    await place.sandbox.requested(50);
    await place.redis.kill();
    run.kill('SIGINT');
    const { code, stdout, stderr } = await run.end;
    expect({ code, stdout, stderr }).toMatchObject({ code: 130 });
    // The fate of the rows in Redis is unknown: they are pending, or unclear.
    const called = callsByRow(await place.sandbox.log());
    const reported = (await home.report('r')).filter((row) =>
      called.has(`restore-evaluation ${row['evaluation_id']}`),
    );
    expect(reported.length).toBeGreaterThanOrEqual(50);
    const told = (row: Readonly<Record<string, string>>) =>
      row['_outcome'] === 'succeeded' || row['_unclear'] === 'yes' || row['_code'] === 'PENDING';
    expect(reported.filter((row) => !told(row))).toEqual([]);

    await place.redis.restart();
    await worker.says('the datastore is back');
    const resumed = await home.run('resume', 'r', '--no-worker');
    expect({ code: resumed.code, stderr: resumed.stderr }).toMatchObject({ code: 0 });
    const report = await home.report('r');
    expectEveryRowOnce(report, rows);
    expectAgreement(report, await place.sandbox.log(), { killed: true });
  });
});

/** Redis refuses until a person acts. */
const refusals = {
  OOM: [
    /has no memory left/,
    async (redis: Redis) => void (await redis.call('CONFIG', 'SET', 'maxmemory', '1')),
  ],
  WRONGPASS: [
    /asks for a password|refuses the password/,
    async (redis: Redis) => {
      await redis.call('CONFIG', 'SET', 'requirepass', 'new');
      await redis.call('CLIENT', 'KILL', 'TYPE', 'normal', 'SKIPME', 'yes');
    },
  ],
} as const;

describeWithRedis('a Redis that refuses for longer than --max-outage', () => {
  test.each([
    ['a worker', 'WRONGPASS', []],
    ['a daemon', 'OOM', ['--coordinate', '--concurrency', '0']],
  ] as const)('ends %s with exit code 4 and the reason: %s', async (who, refusal, args) => {
    const place = await newPlace();
    const home = await newMachine(place, 3);
    const worker = await home.worker(...args, '--max-outage', '2s');
    const hasRun = who === 'a daemon' && refusal === 'OOM';
    if (hasRun) {
      expect((await home.run('submit', 'rows.csv', '--yes', '--run-id', 'r')).code).toBe(0);
      await eventually(async () => (await home.stateOf('r')) === 'running');
    }
    const [reason, refuse] = refusals[refusal];
    await refuse(adminOf(place.redis));
    await eventually(async () => (await worker.health('/readyz').catch(() => undefined))?.status !== 200);
    const { code, stderr } = await worker.end;
    expect(code).toBe(4);
    expect(stderr).toMatch(reason);
    expect(stderr).toContain('It has done so for longer than --max-outage allows.');
    // Another daemon takes it over.
    if (hasRun) expect(await home.stateOf('r')).toBe('submitted');
  });
});
