import { describe, expect, test } from 'vitest';
import { allFaults, type TestOptions, type TestSandbox } from '../helpers/sandbox.ts';
import { restore, restorePath, send, start } from './client.ts';

const limit = 3;
const startLimited = (options: TestOptions = {}): Promise<TestSandbox> =>
  start({ limit: `concurrency:limit=${limit}`, limitHeaders: 'ratelimit-fields', ...options });

/**
 * Makes calls one after the other until all places but the call's own are free. A client may see the end of a connection before
 * the server does, so one call is not enough.
 */
async function untilAllAreFree(sandbox: TestSandbox): Promise<void> {
  sandbox.configure({ fault: 'none', latency: '0ms' });
  for (;;) {
    const { headers } = await restore(sandbox, 99);
    const remaining = Number(headers.get('ratelimit-remaining'));
    expect(remaining).toBeLessThan(limit);
    if (remaining === limit - 1) break;
  }
  // No later event may free a place once more.
  const { headers } = await restore(sandbox, 99);
  expect(headers.get('ratelimit-remaining')).toBe(String(limit - 1));
}

describe('a place among the concurrent requests is free again', () => {
  test.each(allFaults(0).map(({ name }) => name))('after the fault %s', async (fault) => {
    const sandbox = await startLimited({ fault: `${fault}=100%`, slowBodyDelay: '1ms' });
    const client = new AbortController();
    const answers = [1, 2].map((id) => restore(sandbox, id, { signal: client.signal }));
    await sandbox.requested(2);
    if (fault.startsWith('timeout')) client.abort();
    await Promise.allSettled(answers);
    await untilAllAreFree(sandbox);
  });

  test('as soon as the client has its answer, whatever it is', async () => {
    const sandbox = await startLimited({ limit: 'concurrency:limit=1', evaluations: 1 });
    for (let round = 0; round < 20; round++) {
      expect((await restore(sandbox, 1)).status).toBe(round === 0 ? 200 : 400);
      expect((await restore(sandbox, 2)).status).toBe(404);
      expect((await send(sandbox, restorePath, '{')).status).toBe(400);
    }
  });

  test.each<TestOptions>([{ latency: '1h' }, { fault: 'slow-body=100%', slowBodyDelay: '1h' }])(
    'when the client gives up, and not before: %j',
    async (slowly) => {
      const sandbox = await startLimited(slowly);
      const client = new AbortController();
      const answers = [1, 2, 3].map((id) => restore(sandbox, id, { signal: client.signal }));
      await sandbox.requested(3);
      const { status, headers } = await restore(sandbox, 4);
      expect([status, headers.get('retry-after')]).toEqual([429, null]);
      expect(headers.get('ratelimit-remaining')).toBe('0');
      client.abort();
      await Promise.allSettled(answers);
      await untilAllAreFree(sandbox);
    },
  );
});
