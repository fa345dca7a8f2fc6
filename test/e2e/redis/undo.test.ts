import { afterAll, beforeAll } from 'vitest';
import { describeWithRedis, type RedisServer, startRedis } from '../../helpers/redis-server.ts';
import { startSandbox } from '../../helpers/sandbox.ts';
import { describeUndo } from '../undo.conformance.ts';
import { newMachine } from './machine.ts';

describeWithRedis('undo on Redis with a separate worker', () => {
  let redis: RedisServer;
  let scenes = 0;
  beforeAll(async () => {
    redis = await startRedis();
  });
  afterAll(() => redis.stop());

  describeUndo(async (...sandboxArgs) => {
    scenes += 1;
    const sandbox = await startSandbox(...sandboxArgs);
    const place = { redis, sandbox, prefix: `undo-${scenes}` };
    const home = await newMachine(place);
    await (await newMachine(place)).worker();
    return { home, sandbox, flags: ['--no-worker'] };
  });
});
