import { afterAll, beforeAll, expect, test } from 'vitest';
import { describeWithRedis, type RedisServer, startRedis } from '../../helpers/redis-server.ts';
import { startSandbox } from '../../helpers/sandbox.ts';
import { expectAgreement, expectEveryRowOnce } from '../agreement.ts';
import { restoreCsv } from '../manifests.ts';
import { eventually, kindSandbox, type Machine, newMachine, type Place } from './machine.ts';

const coordinating = ['--coordinate', '--concurrency', '0'];

/** Evaluations of one run, so that the log of the API shows whose call it was. */
interface Part {
  readonly first: number;
  readonly rows: number;
}

describeWithRedis('runs of one API', () => {
  let redis: RedisServer;
  let places = 0;
  beforeAll(async () => {
    redis = await startRedis();
  });
  afterAll(() => redis.stop());

  async function newPlace(...flags: string[]): Promise<Place> {
    places += 1;
    const sandbox = await startSandbox(...kindSandbox, ...flags);
    return { redis, sandbox, prefix: `priority-${places}` };
  }

  /** Times of the calls of a run, milliseconds since 1970. */
  async function callsOf({ sandbox }: Place, { first, rows }: Part): Promise<readonly number[]> {
    const log = await sandbox.log();
    return log
      .filter(({ id }) => Number(id) >= first && Number(id) < first + rows)
      .map(({ time }) => Date.parse(time));
  }

  async function submit(home: Machine, id: string, part: Part, ...options: string[]): Promise<void> {
    await home.write(`${id}.csv`, restoreCsv(part.rows, part.first).text);
    const submitted = await home.run('submit', `${id}.csv`, '--yes', '--run-id', id, ...options);
    expect(submitted).toMatchObject({ code: 0 });
  }

  test('share the calls by rows, whenever they began and however fast their workers are', async () => {
    const place = await newPlace('--latency', '40ms', '--evaluations', '20000');
    const home = await newMachine(place);
    const daemon = await home.worker(...coordinating);
    const workers = [
      await (await newMachine(place)).worker('--concurrency', '1'),
      await (await newMachine(place)).worker('--concurrency', '8'),
    ];
    const parts = {
      a: { first: 1, rows: 6_000 },
      b: { first: 6_001, rows: 6_000 },
      c: { first: 12_001, rows: 6_000 },
    };
    const rate = ['--rate', '80/s'];
    await submit(home, 'a', parts.a, ...rate);
    await place.sandbox.requested(400);
    await submit(home, 'b', parts.b, ...rate);
    await submit(home, 'c', parts.c, ...rate);
    const begun = async () =>
      Math.max(
        ...(await Promise.all(
          Object.values(parts).map(
            async (part) => (await callsOf(place, part))[0] ?? Number.POSITIVE_INFINITY,
          ),
        )),
      );
    await eventually(async () => Number.isFinite(await begun()));
    const from = (await begun()) + 1_000;
    const until = from + 60_000;
    await eventually(async () => Date.parse((await place.sandbox.log()).at(-1)?.time ?? '') > until, 1_000);
    const counts = await Promise.all(
      Object.values(parts).map(
        async (part) => (await callsOf(place, part)).filter((at) => at >= from && at < until).length,
      ),
    );
    const third = counts.reduce((sum, each) => sum + each, 0) / 3;
    for (const calls of counts) expect(Math.abs(calls - third) / third).toBeLessThanOrEqual(0.05);
    for (const id of ['a', 'b', 'c']) await home.run('cancel', id, '--yes');
    for (const worker of [daemon, ...workers]) await worker.stop();
  }, 300_000);

  test('of high priority go first, and take hardly longer than alone', async () => {
    const place = await newPlace('--latency', '40ms', '--evaluations', '3000');
    const home = await newMachine(place);
    const daemon = await home.worker(...coordinating);
    const workers = [await (await newMachine(place)).worker(), await (await newMachine(place)).worker()];
    const rate = ['--rate', '100/s'];
    const urgent = async (id: string, part: Part) => {
      await submit(home, id, part, '--priority', 'high', ...rate);
      const submittedAt = Date.now();
      await eventually(() => daemon.logged('no longer coordinating').some(({ run }) => run === id));
      const calls = await callsOf(place, part);
      expectEveryRowOnce(await home.report(id), part.rows);
      return { first: (calls[0] ?? 0) - submittedAt, last: (calls.at(-1) ?? 0) - submittedAt };
    };
    // Twice, because one of them may meet a moment at which the machine is slow.
    const alone = await urgent('alone', { first: 1, rows: 200 });
    const again = await urgent('again', { first: 601, rows: 200 });
    await submit(home, 'long', { first: 3_001, rows: 400_000 }, '--max-failures', 'none', ...rate);
    await place.sandbox.requested(1_000);
    const beside = await urgent('beside', { first: 201, rows: 200 });
    expect(beside.first).toBeLessThan(2_000);
    expect(beside.last).toBeLessThan(1.3 * Math.max(alone.last, again.last));
    expectAgreement(
      await home.report('beside'),
      (await place.sandbox.log()).filter(({ id }) => Number(id) > 200 && Number(id) <= 400),
    );
    expect(await home.run('cancel', 'long', '--yes')).toMatchObject({ code: 0 });

    // A slow run of low priority keeps to its own rate, and does not hold up the urgent one.
    const slowPart = { first: 1_001, rows: 400 };
    await submit(home, 'slow', slowPart, '--priority', 'low', '--rate', '5/s');
    await eventually(async () => (await callsOf(place, slowPart)).length >= 5);
    const faster = await urgent('faster', { first: 401, rows: 200 });
    // At five calls a second, 200 would take 40 s.
    expect(faster.last).toBeLessThan(2 * alone.last);
    const slowCalls = await callsOf(place, slowPart);
    const seconds = ((slowCalls.at(-1) ?? 0) - (slowCalls[0] ?? 0)) / 1_000;
    // Ten seconds of its rows may be in Redis.
    expect(slowCalls.length).toBeLessThanOrEqual(5 * (seconds + 10) + 5);
    expect(await home.run('cancel', 'slow', '--yes')).toMatchObject({ code: 0 });
    for (const worker of [daemon, ...workers]) await worker.stop();
  }, 300_000);
});
