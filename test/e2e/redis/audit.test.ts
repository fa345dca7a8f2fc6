import { afterAll, beforeAll } from 'vitest';
import { describeWithRedis, type RedisServer, startRedis } from '../../helpers/redis-server.ts';
import { startSandbox } from '../../helpers/sandbox.ts';
import type { WorkerProcess } from '../../helpers/worker.ts';
import { describeAnswers, describeEvents, type NewScene } from '../audit.conformance.ts';
import { kindSandbox, newMachine } from './machine.ts';

describeWithRedis('a run on Redis that two workers call', () => {
  let redis: RedisServer;
  let scenes = 0;
  beforeAll(async () => {
    redis = await startRedis();
  });
  afterAll(() => redis.stop());

  const newScene: NewScene = async (rows, ...sandboxArgs) => {
    scenes += 1;
    const sandbox = await startSandbox(...kindSandbox, ...sandboxArgs);
    const place = { redis, sandbox, prefix: `audit-${scenes}`, env: { CQBATCH_BACKOFF: '20ms' } };
    const home = await newMachine(place, rows);
    const elsewhere = await newMachine(place);
    const start = (): Promise<WorkerProcess[]> =>
      Promise.all([elsewhere.worker('--concurrency', '4'), elsewhere.worker('--concurrency', '4')]);
    const workers = await start();
    const kill = async (): Promise<void> => {
      for (const worker of workers) worker.kill('SIGKILL');
      await Promise.all(workers.map(({ end }) => end));
      await start();
    };
    return { home, elsewhere, sandbox, flags: ['--no-worker'], kill };
  };
  describeEvents(newScene);
  describeAnswers(newScene);
});
