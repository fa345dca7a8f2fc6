import { afterAll, beforeAll } from 'vitest';
import { describeWithRedis, type RedisServer, startRedis } from '../../helpers/redis-server.ts';
import { startSandbox } from '../../helpers/sandbox.ts';
import { describeFailureGuards, type NewGuardedScene } from '../guards.conformance.ts';
import { newMachine } from './machine.ts';

/** Of all workers together; at most 10 s of calls may pass before those elsewhere stop. */
const callsPerSecond = 20;

describeWithRedis('a run on Redis that two workers elsewhere call', () => {
  let redis: RedisServer;
  let scenes = 0;
  beforeAll(async () => {
    redis = await startRedis();
  });
  afterAll(() => redis.stop());

  const newScene: NewGuardedScene = async (rows, failing) => {
    scenes += 1;
    const content = ['--evaluations', '3000', '--unrecoverable', failing, '--not-deleted', '0%'];
    const sandbox = await startSandbox(...content, '--latency', '20ms');
    const env = { CQBATCH_MAX_FAILURES: '' };
    const place = { redis, sandbox, prefix: `guards-${scenes}`, env };
    const home = await newMachine(place, rows);
    for (let worker = 0; worker < 2; worker += 1) await (await newMachine(place)).worker();
    const flags = ['--no-worker', '--rate', `${callsPerSecond}/s`];
    return { home, sandbox, flags, callsAfter: 10 * callsPerSecond };
  };
  describeFailureGuards(newScene);
});
