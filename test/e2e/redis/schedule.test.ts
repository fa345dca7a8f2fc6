import { afterAll, beforeAll } from 'vitest';
import { describeWithRedis, type RedisServer, startRedis } from '../../helpers/redis-server.ts';
import { startSandbox } from '../../helpers/sandbox.ts';
import { describeSchedules } from '../schedule.conformance.ts';
import { newMachine } from './machine.ts';

describeWithRedis('a schedule on Redis', () => {
  let redis: RedisServer;
  beforeAll(async () => {
    redis = await startRedis();
  });
  afterAll(() => redis.stop());

  describeSchedules(async () => {
    const sandbox = await startSandbox();
    const home = await newMachine({ redis, sandbox, prefix: 'schedules' });
    return { home, sandbox };
  });
});
