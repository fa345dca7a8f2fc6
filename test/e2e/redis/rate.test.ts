import { afterAll, beforeAll } from 'vitest';
import { describeWithRedis, type RedisServer, startRedis } from '../../helpers/redis-server.ts';
import { startSandbox } from '../../helpers/sandbox.ts';
import { describeRate, limitsShared } from '../rate.conformance.ts';
import { kindSandbox, newMachine } from './machine.ts';

describeWithRedis('a run on Redis that two workers call', () => {
  let redis: RedisServer;
  let scenes = 0;
  beforeAll(async () => {
    redis = await startRedis();
  });
  afterAll(() => redis.stop());

  describeRate(async (rows, ...sandboxArgs) => {
    scenes += 1;
    const place = {
      redis,
      sandbox: await startSandbox(...kindSandbox, ...sandboxArgs),
      prefix: `rate-${scenes}`,
    };
    const home = await newMachine(place, rows);
    for (let worker = 0; worker < 2; worker += 1) await (await newMachine(place)).worker();
    return { home, sandbox: place.sandbox, flags: ['--no-worker'] };
  }, limitsShared);
});
