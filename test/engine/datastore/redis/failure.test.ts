import { inspect } from 'node:util';
import { describe, expect, test } from 'vitest';
import { describeAddress, parseRedisUrl } from '../../../../src/engine/datastore/redis/address.ts';
import { explainFailure, type FailureContext } from '../../../../src/engine/datastore/redis/failure.ts';

function contextOf(url: string): FailureContext {
  const address = parseRedisUrl(url);
  const secrets = address.password === undefined ? [] : [address.password];
  return {
    where: describeAddress(address),
    address,
    prefix: '{cqbatch}',
    secrets,
    passwordPlace: 'CQBATCH_QUEUE_PASSWORD',
  };
}

const plain = 'redis://host';

// What real servers say to real commands: opening.test.ts and topology.test.ts.
describe('a failure is explained in one sentence with its remedy', () => {
  test.for<[error: string, url: string, code: string, message: RegExp]>([
    ['WRONGPASS invalid pair', 'redis://:x@host', 'REDIS_AUTH', /refuses the password/],
    ['WRONGPASS invalid pair', 'redis://ann:x@host', 'REDIS_AUTH', /this user with this password/],
    ['NOAUTH Authentication required.', plain, 'REDIS_AUTH', /asks for a password/],
    ['NOAUTH Authentication required.', 'redis://:x@host', 'REDIS_AUTH', /asks for another login/],
    ['DENIED Redis is running in protected mode', plain, 'REDIS_AUTH', /"requirepass"/],
    [
      "NOPERM this user has no permissions to run the 'eval' command",
      'redis://ann:x@host',
      'REDIS_PERMISSION',
      /'eval' command.*"ACL SETUSER ann ~\{cqbatch\}:\* \+@all -@dangerous \+info"/,
    ],
    ['MASTERDOWN Link with MASTER is down', plain, 'REDIS_REPLICA', /read-only replica/],
    ['NOREPLICAS Not enough good replicas to write.', plain, 'REDIS_READ_ONLY', /refuses writes/],
    ['ERR max number of clients reached', plain, 'REDIS_UNREACHABLE', /raise its maxclients/],
    ['ssl/tls alert certificate required', 'rediss://host', 'REDIS_TLS', /"tls-auth-clients"/],
    ['connect ECONNREFUSED 127.0.0.1:6379', plain, 'REDIS_UNREACHABLE', /refuses the connection/],
    ['connect ENOENT /a.sock', 'unix:///a.sock', 'REDIS_UNREACHABLE', /the socket doesn't exist/],
    ['connect EACCES /a.sock', 'unix:///a.sock', 'REDIS_UNREACHABLE', /"unixsocketperm"/],
    ['connect ETIMEDOUT', plain, 'REDIS_UNREACHABLE', /firewall/],
    ['something new', plain, 'REDIS_UNREACHABLE', /can't be used \(something new\): correct the address/],
  ])('%s (%s)', ([message, url, code, explanation]) => {
    const context = contextOf(url);
    const error = explainFailure([new Error(message)], context);
    expect(error).toMatchObject({ kind: 'fatal', code });
    expect(error.message).toMatch(explanation);
    expect(error.message.startsWith(`Redis at ${context.where} `)).toBe(true);
    expect(error.message).not.toContain('\n');
  });
});

test('of several errors the most informative one is explained', () => {
  const errors = [
    new Error('Connection is closed.'),
    new Error('connect ECONNREFUSED 127.0.0.1:1'),
    new Error('x'),
  ];
  expect(explainFailure(errors, contextOf(plain)).message).toContain('refuses the connection');
});

test('the errors of addresses are examined', () => {
  const ofAddress = new AggregateError([new Error('connect ECONNREFUSED ::1:1')]);
  expect(explainFailure([ofAddress], contextOf(plain)).message).toContain('refuses the connection');
});

test('no error shows a password, however it is printed', () => {
  const error = Object.assign(new Error('ERR unknown command HELLO, with args: AUTH ann s3cret'), {
    command: { name: 'hello', args: ['3', 'AUTH', 'ann', 's3cret'] },
  });
  const explained = explainFailure([error], contextOf('redis://ann:s3cret@host'));
  expect(inspect(explained, { depth: 10 })).not.toContain('s3cret');
  expect(explained.message).toContain('ERR unknown command HELLO');
});
