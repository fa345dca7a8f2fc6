import { describe, expect, test } from 'vitest';
import type { CqbatchError } from '../../../../src/base/errors/errors.ts';
import { describeAddress, parseRedisUrl } from '../../../../src/engine/datastore/redis/address.ts';

const server = (host: string, port: number, more: object = {}): object => ({
  kind: 'server',
  endpoint: { host, port },
  tls: false,
  db: 0,
  ...more,
});

const host = (more: object = {}): object => server('host', 6379, more);

describe('an address of Redis is understood', () => {
  test.for<[url: string, address: object, forPeople?: string]>([
    ['redis://10.0.0.7', server('10.0.0.7', 6379), 'redis://10.0.0.7:6379/0'],
    [' REDIS://Host:6380/3 ', server('Host', 6380, { db: 3 }), 'redis://Host:6380/3'],
    ['redis://host?db=3', host({ db: 3 }), 'redis://host:6379/3'],
    ['redis://[::1]:6380', server('::1', 6380), 'redis://[::1]:6380/0'],
    ['rediss://host', host({ tls: true }), 'rediss://host:6379/0'],
    ['redis://:pw@host', host({ password: 'pw' })],
    ['redis://ann@host', host({ username: 'ann' })],
    ['redis://a%40b:%2F%3F%23%25%3A%C3%A9@host', host({ username: 'a@b', password: '/?#%:é' })],
    ['redis://ann:p:w@host', host({ username: 'ann', password: 'p:w' })],
    [
      'unix:///run/redis.sock',
      { kind: 'socket', path: '/run/redis.sock', tls: false, db: 0 },
      'unix:///run/redis.sock',
    ],
    [
      'redis+unix://ann:pw@/run/my%20redis%40a.sock?db=2',
      { kind: 'socket', path: '/run/my redis@a.sock', tls: false, db: 2, username: 'ann', password: 'pw' },
      'unix:///run/my redis@a.sock?db=2',
    ],
    [
      'redis+sentinel://ann:pw@s1,s2:26380,[::1]/mymaster/4?sentinel-user=watch',
      {
        kind: 'sentinel',
        sentinels: [
          { host: 's1', port: 26379 },
          { host: 's2', port: 26380 },
          { host: '::1', port: 26379 },
        ],
        name: 'mymaster',
        sentinelUsername: 'watch',
        tls: false,
        db: 4,
        username: 'ann',
        password: 'pw',
      },
      'redis+sentinel://s1:26379,s2:26380,[::1]:26379/mymaster/4',
    ],
  ])('%s', ([url, address, forPeople = 'redis://host:6379/0']) => {
    expect(parseRedisUrl(url)).toEqual(address);
    expect(describeAddress(parseRedisUrl(url))).toBe(forPeople);
  });
});

describe('an address of Redis is refused, with what is wrong, an example and no password', () => {
  test.for<[url: string, problem: string, example: string]>([
    ['', 'must begin with one of redis://, rediss://', 'redis://'],
    ['localhost:6379', 'must begin with one of', 'redis://'],
    ['redis://', 'must name a host', 'redis://'],
    ['redis://:s3cret@', 'must name a host', 'redis://'],
    ['redis://user:s3cret', 'must have a port from 1 to 65535', 'redis://'],
    ['redis://host:0', 'must have a port from 1 to 65535', 'redis://'],
    ['redis://::1', 'IPv6 address in brackets', 'redis://'],
    ['redis://:s3cret@a,b', 'must name one host: several hosts are for Sentinels', 'redis://'],
    ['redis+cluster://n1:7000,n2', 'names a Redis Cluster, which cqbatch does not support', 'redis://'],
    ['redis://host/one', 'must have a number as database', 'redis://'],
    ['redis://host/1?db=2', 'must not name the database twice', 'redis://'],
    ['redis://host?password=s3cret', 'unknown parameter after the question mark (known: db)', 'redis://'],
    ['redis://host#s3cret', 'must not have a part that begins with #', 'redis://'],
    ['redis://ho st', 'must not contain spaces', 'redis://'],
    ['redis://:s3/cret@host', 'must percent-encode / ? # @ %', 'redis://'],
    ['redis://:s3%cret@host', 'write % itself as %25', 'redis://'],
    ['unix://run/redis.sock', 'must have the absolute path of the socket', 'unix:///'],
    ['redis+sentinel://s1', 'must name the primary after the Sentinels', 'redis+sentinel://'],
  ])('%s', ([url, problem, example]) => {
    const error = thrownBy(() => parseRedisUrl(url));
    expect(error).toMatchObject({ kind: 'usage', code: 'REDIS_URL' });
    expect(error.message).toContain(problem);
    expect(error.message).toContain(`Example: ${example}`);
    expect(error.message).not.toMatch(/s3|cret/);
  });
});

function thrownBy(act: () => unknown): CqbatchError {
  try {
    act();
  } catch (error) {
    return error as CqbatchError;
  }
  throw new Error('Nothing was thrown.');
}
