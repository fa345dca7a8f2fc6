import { afterAll, beforeAll } from 'vitest';
import { describeWithRedis, type RedisServer, startRedis } from '../../helpers/redis-server.ts';
import { startSandbox } from '../../helpers/sandbox.ts';
import { describeAudit } from '../audit.conformance.ts';
import { kindSandbox, newMachine } from './machine.ts';

describeWithRedis('a run on Redis that two workers call', () => {
  let redis: RedisServer;
  let scenes = 0;
  beforeAll(async () => {
    redis = await startRedis();
  });
  afterAll(() => redis.stop());

  describeAudit(async (rows, ...sandboxArgs) => {
    scenes += 1;
    const sandbox = await startSandbox(...kindSandbox, ...sandboxArgs);
    const place = { redis, sandbox, prefix: `audit-${scenes}` };
    const home = await newMachine(place, rows);
    const elsewhere = await newMachine(place);
    for (let worker = 0; worker < 2; worker += 1) await elsewhere.worker();
    return { home, elsewhere, sandbox, flags: ['--no-worker'] };
  });
});
