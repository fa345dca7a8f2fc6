import { afterAll, beforeAll, expect, test } from 'vitest';
import { parsePrometheusText } from '../../helpers/prometheus-text.ts';
import { describeWithRedis, type RedisServer, startRedis } from '../../helpers/redis-server.ts';
import { startSandbox } from '../../helpers/sandbox.ts';
import type { WorkerProcess } from '../../helpers/worker.ts';
import { expectAgreement, expectEveryRowOnce } from '../agreement.ts';
import { eventually, kindSandbox, newMachine } from './machine.ts';

describeWithRedis('workers that follow cqbatch_workers_wanted', () => {
  let redis: RedisServer;
  beforeAll(async () => {
    redis = await startRedis();
  });
  afterAll(() => redis.stop());

  test('end a run at the full rate, with no worker too many', async () => {
    const rows = 560;
    // 20 calls in flight: three workers with six each make 36 calls per second at most.
    const limit = ['--latency', '500ms', '--limit', 'fixed-window:limit=40,window=1s'];
    const sandbox = await startSandbox(...kindSandbox, ...limit, '--limit-headers', 'ratelimit');
    const place = { redis, sandbox, prefix: 'scaling' };
    const home = await newMachine(place, rows);
    const coordinator = await home.worker('--coordinate', '--concurrency', '0');
    const machine = await newMachine(place);
    const going: WorkerProcess[] = [];
    const ended: Promise<unknown>[] = [];
    let starts = 0;
    let callsBefore = 0;

    async function wanted(): Promise<number> {
      const { samples = [] } =
        parsePrometheusText(await coordinator.metrics()).get('cqbatch_workers_wanted') ?? {};
      expect(samples.length).toBeGreaterThan(0);
      return Math.max(...samples.map(({ value }) => value));
    }

    /** What an autoscaler does at each look. */
    async function follow(): Promise<number> {
      const count = await wanted();
      const added = Math.max(0, count - going.length);
      starts += added;
      going.push(
        ...(await Promise.all(Array.from({ length: added }, () => machine.worker('--concurrency', '6')))),
      );
      if (added > 0) callsBefore = (await sandbox.log()).length;
      for (const worker of going.splice(count)) ended.push(worker.stop());
      return count;
    }

    expect(await follow()).toBe(0);
    expect(await home.run('submit', 'rows.csv', '--yes', '--run-id', 'r')).toMatchObject({ code: 0 });
    await eventually(async () => (await follow()) === 1, 200);
    await eventually(async () => (await follow()) === 0 && (await home.stateOf('r')) === 'completed', 200);
    expect(starts).toBe(4);
    expect(ended).toHaveLength(4);
    expect(await Promise.all(ended)).toMatchObject(Array(4).fill({ code: 0 }));
    // The report is written after the last state.
    await eventually(() => coordinator.logged('no longer coordinating').some(({ run }) => run === 'r'));
    const report = await home.report('r');
    const log = await sandbox.log();
    expectEveryRowOnce(report, rows);
    expectAgreement(report, log);
    // From when all had started until the last second, in which batches are short of rows. The median, because a process may not run
    // for a moment.
    const times = log.slice(callsBefore, -40).map(({ time }) => Date.parse(time));
    const perSecond: number[] = [];
    for (const time of times) {
      const second = Math.floor((time - (times[0] ?? 0)) / 1_000);
      perSecond[second] = (perSecond[second] ?? 0) + 1;
    }
    const sorted = Array.from(perSecond, (calls = 0) => calls).toSorted((a, b) => a - b);
    expect(sorted.length).toBeGreaterThan(5);
    expect(sorted[Math.floor(sorted.length / 2)]).toBeGreaterThan(30);
    await coordinator.stop();
  });
});
