import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { describeWithRedis, type RedisServer, startRedis } from '../../helpers/redis-server.ts';
import { startSandbox } from '../../helpers/sandbox.ts';
import type { WorkerProcess } from '../../helpers/worker.ts';
import { expectAgreement, expectEveryRowOnce, mostSentInASecond } from '../agreement.ts';
import { eventually, kindSandbox, newMachine } from './machine.ts';

/** 50, and one more: slots that are used late, and calls that leave late, never make it two. */
const mostCalls = 51;

test('one process never exceeds the requested rate by more than one call', async () => {
  const sandbox = await startSandbox(...kindSandbox, '--latency', '20ms');
  const home = await newMachine({ redis: { url: '' } as RedisServer, sandbox, prefix: 'none' }, 150);
  const run = ['run', 'rows.csv', '--yes', '--run-id', 'r', '--rate', '50/s'];
  expect(await home.run(...run)).toMatchObject({ code: 0 });
  const log = await sandbox.log();
  expect(log).toHaveLength(150);
  expect(mostSentInASecond(await home.report('r'), log)).toBeLessThanOrEqual(mostCalls);
});

describeWithRedis('workers that share a rate on Redis', () => {
  let redis: RedisServer;
  let scenes = 0;
  beforeAll(async () => {
    redis = await startRedis();
  });
  afterAll(() => redis.stop());

  /** A machine that only coordinates, and workers with these flags. */
  async function newScene(rows: number, latency: string, ...workers: string[][]) {
    scenes += 1;
    const sandbox = await startSandbox(...kindSandbox, '--latency', latency);
    const place = { redis, sandbox, prefix: `slots-${scenes}` };
    const home = await newMachine(place, rows);
    const started: WorkerProcess[] = [];
    for (const flags of workers) started.push(await (await newMachine(place)).worker(...flags));
    const run = home.start('run', 'rows.csv', '--yes', '--run-id', 'r', '--no-worker', '--rate', '50/s');
    return { home, sandbox, run, workers: started };
  }

  test('never exceed it by more than one call, even when one of them is slow', async () => {
    const { home, sandbox, run } = await newScene(250, '100ms', ['--concurrency', '1'], [], []);
    expect(await run.end).toMatchObject({ code: 0 });
    const log = await sandbox.log();
    const report = await home.report('r');
    expectEveryRowOnce(report, 250);
    expect(mostSentInASecond(report, log)).toBeLessThanOrEqual(mostCalls);
  });

  describe.each(['SIGSTOP', 'SIGKILL'] as const)('one of which gets %s', (signal) => {
    test('never exceed it by more than one call, and continue', async () => {
      const { home, sandbox, run, workers } = await newScene(300, '20ms', [], [], []);
      await sandbox.requested(60);
      workers[0]?.kill(signal);
      await sandbox.requested(200);
      workers[0]?.kill('SIGCONT');
      expect(await run.end).toMatchObject({ code: 0 });
      await eventually(async () => (await home.stateOf('r')) === 'completed');
      const report = await home.report('r');
      expectEveryRowOnce(report, 300);
      expectAgreement(report, await sandbox.log(), { killed: true });
      expect(mostSentInASecond(report, await sandbox.log())).toBeLessThanOrEqual(mostCalls);
    });
  });
});
