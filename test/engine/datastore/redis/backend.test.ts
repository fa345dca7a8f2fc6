import { expect, test } from 'vitest';
import { backendFor } from '../../../../src/engine/datastore/redis/backend.ts';

test('a connection that BullMQ can’t make says why, and nothing else fails for it', async () => {
  const told: string[] = [];
  const inspection = {
    server: 'redis',
    version: '7.4.0',
    evictionPolicy: 'noeviction',
    evictedKeys: 0,
    mayAskInfo: false,
    warnings: [],
  } as const;
  const backend = backendFor(
    inspection,
    () => expect.unreachable(),
    ({ message }) => told.push(message),
  );
  const connection = { host: '127.0.0.1', port: 1, retryStrategy: () => null, maxRetriesPerRequest: null };
  const opened = backend('rows', { connection }, { withBlockingConnection: true });
  await expect(opened.waitUntilReady()).rejects.toThrow('ECONNREFUSED');
  expect(new Set(told)).toEqual(new Set(['connect ECONNREFUSED 127.0.0.1:1']));
});
