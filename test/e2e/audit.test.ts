import { describe } from 'vitest';
import type { Observed } from '../helpers/observed.ts';
import type { RedisServer } from '../helpers/redis-server.ts';
import { startSandbox } from '../helpers/sandbox.ts';
import { describeAudit } from './audit.conformance.ts';
import { kindSandbox, newMachine } from './redis/machine.ts';

describe('a run on the embedded datastore', () => {
  describeAudit(async (rows, ...sandboxArgs) => {
    const sandbox = await startSandbox(...kindSandbox, ...sandboxArgs);
    const home = await newMachine({ redis: { url: '' } as RedisServer, sandbox, prefix: 'none' }, rows);
    const kill = async (run: Observed): Promise<void> => {
      run.kill('SIGKILL');
      await run.end;
    };
    return { home, elsewhere: home, sandbox, flags: [], kill };
  });
});
