import { describe } from 'vitest';
import type { RedisServer } from '../helpers/redis-server.ts';
import { startSandbox } from '../helpers/sandbox.ts';
import {
  describeBudgets,
  describeCanary,
  describeFailureGuards,
  type NewGuardedScene,
} from './guards.conformance.ts';
import { newMachine } from './redis/machine.ts';

const concurrency = 4;

describe('a run on the embedded datastore', () => {
  const newScene: NewGuardedScene = async (rows, failing) => {
    const content = ['--evaluations', '3000', '--unrecoverable', failing, '--not-deleted', '0%'];
    const sandbox = await startSandbox(...content, '--latency', '20ms');
    const place = { redis: { url: '' } as RedisServer, sandbox, prefix: 'none', env: guarded };
    return {
      home: await newMachine(place, rows),
      sandbox,
      flags: ['--concurrency', `${concurrency}`],
      // One more by each of those in flight when it is answered.
      callsAfter: 2 * concurrency,
    };
  };
  describeFailureGuards(newScene);
  describeCanary(newScene);
  describeBudgets(newScene);
});

/** As users have it. */
const guarded = { CQBATCH_MAX_FAILURES: '' };
