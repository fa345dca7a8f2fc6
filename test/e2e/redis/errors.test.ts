import { expect, test } from 'vitest';
import { describeWithRedis, type RedisServer, redisForTest } from '../../helpers/redis-server.ts';
import { startSandbox } from '../../helpers/sandbox.ts';
import { expectAgreement, expectEveryRowOnce } from '../agreement.ts';
import { kindSandbox, newMachine, type Place } from './machine.ts';

const secret = 'Correct0Horse1Battery2Staple';
const run = ['run', 'rows.csv', '--yes', '--quiet'];

async function newPlace(redis: RedisServer, ...sandboxArgs: string[]): Promise<Place> {
  return { redis, sandbox: await startSandbox(...kindSandbox, ...sandboxArgs), prefix: 'errors' };
}

describeWithRedis('contradictory input is a usage error, and nothing is sent', () => {
  test('a password in a flag, which the message does not show', async () => {
    const redis = await redisForTest({ args: ['--requirepass', secret] });
    const place = await newPlace(redis);
    const home = await newMachine(place, 3);
    const url = redis.url.replace('redis://', `redis://:${secret}@`);
    const all = [run, ['worker'], ['list']].map((args) => home.run(...args, '--queue', url));
    for (const { code, stdout, stderr } of await Promise.all(all)) {
      expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
      expect(errorIn(stderr)).toMatch(/^Other users of this machine can read a password in --queue: put/);
      expect(stderr).not.toContain(secret);
    }
    // In the environment it may be.
    expect(await home.runWith({ CQBATCH_QUEUE: url }, ...run)).toMatchObject({ code: 0, stderr: '' });
  });

  test('settings that contradict each other or are invalid', async () => {
    const place = await newPlace({ url: '' } as RedisServer);
    const home = await newMachine(place, 3);
    const redis = ['--queue', 'redis://127.0.0.1:1'];
    const cases: readonly (readonly [readonly string[], RegExp])[] = [
      [
        [...run, '--no-worker'],
        /^Other workers can't use the embedded datastore: --no-worker needs a shared/,
      ],
      [['worker'], /^A worker needs a shared datastore: set CQBATCH_QUEUE or pass/],
      [['worker', ...redis, '--concurrency', '0'], /^--concurrency 0 only works with --coordinate\.$/],
      [[...run, '--concurrency', '0'], /^--concurrency 0 only works with "cqbatch worker --coordinate"\.$/],
      [[...run, '--queue', 'redis:/nonsense'], /redis:\/\//],
      [[...run, '--queue', 'redis+cluster://a,b'], /a Redis Cluster, which cqbatch does not support: use/],
    ];
    const all = cases.map(async ([args, message]) => ({ message, ended: await home.run(...args) }));
    for (const { message, ended } of await Promise.all(all)) {
      expect(ended).toMatchObject({ code: 2, stdout: '' });
      expect(errorIn(ended.stderr)).toMatch(message);
    }
    expect(await place.sandbox.log()).toEqual([]);
  });

  test('resuming without the datastore that still holds rows of the run', async () => {
    const redis = await redisForTest();
    const place = await newPlace(redis, '--latency', '10ms');
    const home = await newMachine(place, 200);
    await (await newMachine(place)).worker('--concurrency', '4');
    const child = home.start('run', 'rows.csv', '--yes', '--run-id', 'r', '--no-worker');
    await place.sandbox.requested(20);
    child.kill('SIGKILL');
    await child.end;

    const { code, stderr } = await home.runWith({ CQBATCH_QUEUE: '' }, 'resume', 'r', '--quiet');
    expect({ code, stderr }).toMatchObject({ code: 2 });
    expect(errorIn(stderr)).toBe(
      `Rows of run r are still in ${redis.url}, the datastore of its last session: pass --queue ${redis.url}.`,
    );
    expect(await home.run('resume', 'r', '--quiet')).toMatchObject({ code: 0, stderr: '' });
    const report = await home.report('r');
    expectEveryRowOnce(report, 200);
    expectAgreement(report, await place.sandbox.log());
  });
});

/** The one sentence, or the two, that standard error must consist of. */
function errorIn(stderr: string): string {
  const [, said] = /^error: (.*)\n$/.exec(stderr) ?? [];
  if (said === undefined) throw new Error(`not one error on one line:\n${stderr}`);
  return said;
}
