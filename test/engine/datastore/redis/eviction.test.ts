import type { Redis } from 'ioredis';
import { afterEach, beforeEach, expect, onTestFinished, test, vi } from 'vitest';
import { EvictionWatch } from '../../../../src/engine/datastore/redis/eviction.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

/** A watch of a Redis that has evicted 7 keys before it starts, and what it reports. */
async function watching(mayAskInfo = true) {
  const server = { evicted: 7, asked: 0 };
  const info = async () => {
    server.asked += 1;
    return `# Stats\r\nevicted_keys:${server.evicted}\r\n`;
  };
  const reports: string[] = [];
  const watch = new EvictionWatch({ info } as unknown as Redis, {
    where: 'redis://cache:6379/0',
    mayAskInfo,
    evictedBefore: 7,
    onEvicted: ({ code, message }) => reports.push(`${code}: ${message}`),
  });
  onTestFinished(() => watch.close());
  return { server, watch, reports };
}

test('keys that are evicted after the start are counted and reported, with the remedy', async () => {
  const { server, watch, reports } = await watching();
  await vi.advanceTimersByTimeAsync(60_000);
  expect([reports, await watch.reason()]).toEqual([[], undefined]);
  server.evicted += 60;
  await vi.advanceTimersByTimeAsync(5_000);
  expect(reports).toEqual([
    expect.stringMatching(
      /^REDIS_EVICTION: Redis at redis:\/\/cache:6379\/0 has evicted 60 keys to free memory: .*noeviction/,
    ),
  ]);
  await vi.advanceTimersByTimeAsync(60_000);
  expect(reports).toHaveLength(1);
});

test('the reason counts what was evicted since the last look', async () => {
  const { server, watch, reports } = await watching();
  server.evicted += 1;
  expect((await watch.reason())?.message).toContain('has evicted 1 key to');
  expect(reports).toHaveLength(1);
});

test('without the permission to ask, there is no reason and no question', async () => {
  const { server, watch } = await watching(false);
  server.evicted += 60;
  expect([await watch.reason(), server.asked]).toEqual([undefined, 0]);
});
