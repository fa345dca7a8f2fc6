import { describe, expect, test } from 'vitest';
import { isLoading, judgeInfo } from '../../../../src/engine/datastore/redis/info.ts';

const where = 'redis://10.0.0.7:6379/0';

/** The INFO of a healthy Redis, with changes; `undefined` leaves a field out. */
function infoWith(changes: Readonly<Record<string, string | undefined>> = {}): string {
  const fields = {
    redis_version: '7.0.15',
    redis_mode: 'standalone',
    used_memory: '1000000',
    maxmemory: '0',
    maxmemory_policy: 'noeviction',
    loading: '0',
    aof_enabled: '1',
    role: 'master',
    ...changes,
  };
  const lines = Object.entries(fields).flatMap(([name, value]) =>
    value === undefined ? [] : [`${name}:${value}`],
  );
  return ['# Server', ...lines, '', ''].join('\r\n');
}

describe('a Redis is usable', () => {
  test.for<[claim: string, changes: Record<string, string | undefined>, server: string]>([
    ['by default', {}, 'Redis 7.0.15'],
    ['of the oldest version', { redis_version: '6.2.0' }, 'Redis 6.2.0'],
    [
      'that is Valkey',
      { valkey_version: '8.1.0', redis_version: '7.2.4', server_name: 'valkey' },
      'Valkey 8.1.0',
    ],
    ['that would evict, but has no limit', { maxmemory_policy: 'allkeys-lru' }, 'Redis 7.0.15'],
  ])('%s', ([, changes, server]) => {
    expect(judgeInfo(infoWith(changes), where)).toMatchObject({ server, warnings: [] });
  });

  test('without a log of its writes, with a warning', () => {
    expect(judgeInfo(infoWith({ aof_enabled: '0' }), where)).toMatchObject({
      warnings: [
        expect.stringMatching(
          /^Redis at redis:.* called again and marked unclear.*CONFIG SET appendonly yes/,
        ),
      ],
    });
  });
});

const replica = { role: 'slave', master_host: '10.0.0.5', master_port: '6380' };
const evicting = { maxmemory: '5000000', maxmemory_policy: 'allkeys-lru' };
const full = { used_memory: '2097152', maxmemory: '2097152' };

test.for<[code: string, changes: Record<string, string>, message: RegExp]>([
  ['REDIS_VERSION', { redis_version: '6.0.16' }, /version 6\.0\.16: .* Redis 6\.2 or newer/],
  ['REDIS_REPLICA', replica, /replica of 10\.0\.0\.5:6380: connect to that primary, or through Sentinel/],
  ['REDIS_EVICTION', evicting, /allkeys-lru.*lose rows: type "CONFIG SET maxmemory-policy noeviction"/],
  ['REDIS_FULL', full, /2\.0 MB used, maxmemory is 2\.0 MB.*CONFIG SET maxmemory/],
  [
    'REDIS_CLUSTER',
    { redis_mode: 'cluster' },
    /part of a Redis Cluster.*: use a Redis or Valkey server outside/,
  ],
  ['REDIS_SENTINEL', { redis_mode: 'sentinel' }, /write redis\+sentinel:\/\//],
])('a Redis is refused with %s and what to do', ([code, changes, message]) => {
  const judge = () => judgeInfo(infoWith(changes), where);
  expect(judge).toThrow(expect.objectContaining({ kind: 'fatal', code }));
  expect(judge).toThrow(message);
  expect(judge).toThrow(where);
});

test('a Redis that is loading is recognized by its own words', () => {
  expect([isLoading(infoWith()), isLoading(infoWith({ loading: '1' }))]).toEqual([false, true]);
});
