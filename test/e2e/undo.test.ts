import { describe } from 'vitest';
import type { RedisServer } from '../helpers/redis-server.ts';
import { startSandbox } from '../helpers/sandbox.ts';
import { newMachine } from './redis/machine.ts';
import { describeUndo } from './undo.conformance.ts';

describe('undo on the embedded datastore', () => {
  describeUndo(async (...sandboxArgs) => {
    const sandbox = await startSandbox(...sandboxArgs);
    const home = await newMachine({ redis: { url: '' } as RedisServer, sandbox, prefix: 'none' });
    return { home, sandbox, flags: [] };
  });
});
