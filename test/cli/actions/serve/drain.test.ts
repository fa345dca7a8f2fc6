import { hostname } from 'node:os';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { drainWorkers } from '../../../../src/cli/actions/serve/drain.ts';
import type { Terminal } from '../../../../src/cli/terminal.ts';
import type { WorkerEntry } from '../../../../src/cluster/entries.ts';
import type { Datastore } from '../../../../src/datastore/datastore.ts';
import { api, workerEntry } from '../../../helpers/cluster-entries.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

/** Drains a machine of which these workers are known, and never leave. */
async function drain(...workers: Partial<WorkerEntry>[]) {
  const told: unknown[] = [];
  const results: unknown[] = [];
  const runScript = async (_script: string, keys: readonly string[], [id]: readonly unknown[]) => {
    if (keys[0]?.endsWith(':controls')) return void told.push(id);
    const entries = workers.map((worker) => JSON.stringify(workerEntry({ host: hostname(), ...worker })));
    return ['1000', entries.map((entry) => `1000 ${entry}`)];
  };
  const terminal = {
    result: (document: unknown) => results.push(document),
  } as unknown as Terminal;
  const draining = drainWorkers(
    terminal,
    async () => ({ prefix: '', runScript, async close() {} }) as unknown as Datastore,
    { shutdownTimeout: 25_000 },
    { baseUrl: api, allowInsecureHttp: false, concurrency: 1, timeoutMs: 1 },
  ).catch((error: Error) => error);
  await vi.runAllTimersAsync();
  return { ended: await draining, told, results };
}

test('a worker that stays is an error', async () => {
  const { ended, told } = await drain({ id: 'a', pid: 7, drains: true });
  expect(told).toEqual(['a']);
  expect(ended).toMatchObject({ code: 'WORKERS_REMAIN', message: expect.stringContaining('not ended: 7.') });
});

test('a worker that can not be told is an error', async () => {
  const { ended, told, results } = await drain({ id: 'b', pid: 8, version: '0.9.0' });
  expect(ended).toMatchObject({
    code: 'WORKERS_REMAIN',
    message: expect.stringContaining('8 (version 0.9.0)'),
  });
  expect([told, results]).toEqual([[], []]);
});

test('workers of other machines are left alone', async () => {
  const { ended, told, results } = await drain({ id: 'a', host: 'elsewhere', drains: true });
  expect(ended).toBe(0);
  expect(told).toEqual([]);
  expect(results).toEqual([{ state: 'drained', host: hostname(), workers: 0 }]);
});
