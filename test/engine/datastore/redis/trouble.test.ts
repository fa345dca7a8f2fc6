import { EventEmitter } from 'node:events';
import type { Redis } from 'ioredis';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { CqbatchError, usageError } from '../../../../src/base/errors/errors.ts';
import { RedisTrouble } from '../../../../src/engine/datastore/redis/trouble.ts';

const misconf = new Error('MISCONF Errors writing to the AOF file: No space left on device');
const wrongPassword = 'WRONGPASS invalid username-password pair or user is disabled.';
const endpoint = { host: '127.0.0.1', port: 6379 };
const context = {
  where: 'redis://r',
  address: { kind: 'server', endpoint, tls: false, db: 0, password: 'old' },
  prefix: '{p}',
  secrets: [],
  passwordPlace: '/etc/password',
} as const;

let now = 0;

/** A clock that only the test moves. */
function stoppedClock(): void {
  now = 0;
  vi.spyOn(performance, 'now').mockImplementation(() => now);
}

afterEach(() => void vi.restoreAllMocks());

function troubled(onUnwritable: (reason: CqbatchError) => void = () => {}, onLogin = async () => {}) {
  stoppedClock();
  return new RedisTrouble(context, onLogin, onUnwritable);
}

/** A trouble that hears of the events of a connection. */
function watching() {
  const trouble = troubled();
  const client = new EventEmitter();
  trouble.watch(client as unknown as Redis);
  return { trouble, client };
}

/** At which of these seconds, in each of which Redis refuses to write, its disk counted as full. */
function taken(...seconds: readonly number[]): readonly number[] {
  const told: number[] = [];
  const trouble = troubled(() => told.push(now / 1_000));
  for (const second of seconds) {
    now = second * 1_000;
    trouble.noteReply(new Error(misconf.message));
  }
  return told;
}

describe('a Redis that cannot write to its disk', () => {
  test.each([
    ['is waited for at first', [0, 1, 2, 9.9], []],
    ['is given up when it has refused every write for ten seconds', [0, 2, 4, 6, 8, 10], [10]],
    ['is not given up when it has written in between', [0, 2, 4, 9, 11, 13, 15, 18.9], []],
    ['is given up ten seconds after that', [0, 2, 9, 11, 13, 15, 17, 19], [19]],
  ])('%s', (_title, seconds, expected) => {
    expect(taken(...seconds)).toEqual(expected);
  });
});

describe('a Redis that refuses', () => {
  test.each([
    ["OOM command not allowed when used memory > 'maxmemory'.", /has no memory left: raise its maxmemory/],
    ["READONLY You can't write against a read only replica.", /is a read-only replica/],
    ['MOVED 1234 127.0.0.1:7001', /is part of a Redis Cluster/],
    [misconf.message, /can't write to its disk/],
    ["NOPERM this user has no permissions to run the 'evalsha' command", /does not allow this user/],
    [wrongPassword, /refuses the password: correct \/etc\/password/],
  ])('%s says so, for how long, and what the error means', (message, expected) => {
    const trouble = troubled();
    const reply = new Error(message);
    for (now = 0; now <= 60_000; now += 2_000) trouble.noteReply(reply);
    now = 60_000;
    expect(trouble.text).toMatch(expected);
    expect(trouble.text).not.toMatch(/\.$/);
    expect(trouble.refusal).toMatchObject({ forMs: 60_000 });
    expect(reply.cause).toBeInstanceOf(CqbatchError);
    now = 66_001;
    expect([trouble.text, trouble.refusal]).toEqual([undefined, undefined]);
  });

  test.each([
    ['an ordinary reply', new Error('NOSCRIPT No matching script. Please use EVAL.')],
    [
      'a command that the program can do without',
      Object.assign(new Error('NOPERM'), { command: { name: 'info' } }),
    ],
  ])('%s is no trouble', (_title, reply) => {
    const trouble = troubled();
    trouble.noteReply(reply);
    expect([trouble.text, trouble.refusal]).toEqual([undefined, undefined]);
  });

  test('only for a while, while it loads its data, is waited for without end', () => {
    const trouble = troubled();
    trouble.noteReply(new Error('LOADING Redis is loading the dataset in memory'));
    expect(trouble.text).toBe('Redis at redis://r is still loading its data: wait until it is done');
    expect(trouble.refusal).toBeUndefined();
  });

  test('is not said to be silent when its connections are replaced meanwhile', () => {
    const { trouble, client } = watching();
    for (now = 0; now <= 20_000; now += 1_000) {
      trouble.noteReply(new Error('READONLY'));
      for (const event of ['close', 'reconnecting', 'connect']) {
        client.emit(event);
        expect(trouble.text).toContain('is a read-only replica');
      }
      client.emit('ready');
      expect(trouble.text).toContain('is a read-only replica');
    }
    expect(trouble.refusal?.forMs).toBeGreaterThanOrEqual(20_000);
  });

  test('the login, refuses until a connection is ready again, however long the next attempt takes', () => {
    const { trouble, client } = watching();
    client.emit('close');
    client.emit('error', new Error(wrongPassword));
    now = 60_000;
    expect(trouble.refusal).toMatchObject({ reason: { code: 'REDIS_AUTH' }, forMs: 60_000 });
    client.emit('ready');
    expect([trouble.text, trouble.refusal]).toEqual([undefined, undefined]);
  });

  test('the login, because its password can not be read, says why not', async () => {
    const unreadable = usageError(
      'PASSWORD_UNREADABLE',
      "Can't read the password file /etc/password: ENOENT.",
    );
    const trouble = troubled(undefined, () => Promise.reject(unreadable));
    trouble.noteReply(new Error(wrongPassword));
    await expect.poll(() => trouble.text).toBe("Can't read the password file /etc/password: ENOENT");
    expect(trouble.refusal?.reason).toBe(unreadable);
  });

  test('and then goes away, is away', () => {
    const { trouble, client } = watching();
    trouble.noteReply(new Error('OOM'));
    client.emit('close');
    client.emit('error', Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED' }));
    expect(trouble.text).toBe('Redis at redis://r does not answer (ECONNREFUSED)');
    expect(trouble.refusal).toBeUndefined();
  });
});
