import { expect, test } from 'vitest';
import { CqbatchError } from '../../../src/errors.ts';
import {
  readSettings,
  readSwitchChanges,
  type SandboxOptions,
} from '../../../src/sandbox/options/options.ts';

test('without options, it is what the documentation says', async () => {
  const { service, ...settings } = await readSettings({});
  expect(settings).toEqual({
    host: '127.0.0.1',
    port: 0,
    maxBody: 4 * 1024 * 1024,
    log: { limit: 1_000_000, body: 'sha256' },
  });
  expect(service).toMatchObject({
    seed: 1,
    tokens: ['sandbox-token'],
    evaluations: { generated: 1000, unrecoverable: 20_000, notDeleted: 10_000 },
    soundboards: { generated: 200 },
  });
});

test.each<[SandboxOptions, string]>([
  [{ port: '65536' }, '--port: "65536" is no whole number from 0 to 65535'],
  [{ port: 'http' }, '--port: "http" is no whole number'],
  [{ evaluations: '-1' }, '--evaluations: "-1" is no whole number from 0 to 1000000000'],
  [{ evaluations: '1e3' }, '--evaluations: "1e3" is no whole number'],
  [{ soundboards: 1.5 }, '--soundboards: "1.5" is no whole number'],
  [{ seed: '' }, '--seed: "" is no whole number'],
  [{ unrecoverable: '2' }, '--unrecoverable: "2" is no share'],
  [{ notDeleted: 'all' }, '--not-deleted: "all" is no share'],
  [{ logLimit: 0 }, '--log-limit: "0" is no whole number from 1'],
  [{ logBody: 'md5' }, '--log-body: "md5" is none of sha256, text, none'],
  [{ maxBody: 0 }, '--max-body: "0" is no whole number from 1'],
  [{ token: '' }, '--token: a token is made of visible ASCII characters'],
  [{ token: 'two words' }, '--token: a token is made of visible ASCII characters'],
  [{ errorStyle: 'xml' }, '--error-style: "xml" is none of rpc, rpc-string, google, problem, text, html'],
  [{ integers: 'bigint' }, '--integers: "bigint" is none of number, string'],
  [{ case: 'kebab' }, '--case: "kebab" is none of snake, camel'],
  [{ omitted: 'drop' }, '--omitted: "drop" is none of keep, reset'],
  [{ notDeletedStatus: '404' }, '--not-deleted-status: "404" is none of 400, 409'],
  [{ retryAfter: 'body' }, '--retry-after: "body" is none of header, retry-info, none'],
  [{ errorStyle: 'text', retryAfter: 'retry-info' }, '--retry-after retry-info needs an --error-style'],
  [{ latency: 'short' }, '--latency: "short" is no duration'],
  [{ slowBodyDelay: 'long' }, '--slow-body-delay: "long" is no duration'],
  [{ token: 'one,' }, '--token: a token is made of visible ASCII characters'],
  [{ token: 'one, two' }, 'without spaces; write several as one,two'],
  [
    { limitHeaders: 'all' },
    '--limit-headers: "all" is none of none, ratelimit, ratelimit-fields, x-ratelimit',
  ],
  [{ limitStatus: '500' }, '--limit-status: "500" is none of 429, 503'],
  [{ limit: 'none then' }, '--limit: write a duration and a limit after "then"'],
  [{ limit: 'leaky' }, '--limit: there is no limit "leaky"'],
  [{ fault: 'flood=1%' }, '--fault: there is no fault flood'],
])('%j is a usage error', async (options, message) => {
  const error = await readSettings(options).catch((reason: unknown) => reason);
  expect(error).toBeInstanceOf(CqbatchError);
  expect(error).toMatchObject({
    kind: 'usage',
    code: 'INVALID_OPTION',
    message: expect.stringContaining(message),
  });
});

test('with a state, nothing is generated unless a number is given', async () => {
  const state = { evaluations: [{ evaluation_id: 7 }] };
  const { service } = await readSettings({ state });
  expect([service.evaluations.generated, service.soundboards.generated]).toEqual([0, 0]);
  const both = await readSettings({ state, evaluations: 5 });
  expect(both.service.evaluations.generated).toBe(5);
});

test('changes of switches are taken as they are', () => {
  const changes = { errorStyle: 'google', forbidden: true };
  expect(readSwitchChanges(changes)).toEqual(changes);
});

test.each([
  [null, 'must be a JSON object'],
  [[], 'must be a JSON object'],
  ['fault', 'must be a JSON object'],
  [{ evaluations: 5 }, 'there is no switch "evaluations"; known switches: errorStyle, integers,'],
  [{ 'error-style': 'rpc' }, 'there is no switch "error-style"'],
  [{ forbidden: 'yes' }, 'forbidden must be a boolean'],
  [{ latency: 50 }, 'latency must be a string'],
])('%j is refused: %s', (json, message) => {
  expect(() => readSwitchChanges(json)).toThrow(message);
});
