import { inspect } from 'node:util';
import { beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest';
import { tokenFromCommand, tokenFromRuns } from '../../../../src/engine/api/token/from-command.ts';
import type { CommandEnd } from '../../../../src/engine/api/token/run-program.ts';

const now = Date.parse('2026-11-26T12:00:00Z');

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['Date', 'performance'], now });
  onTestFinished(() => void vi.useRealTimers());
});

const pass = (ms: number): void => void vi.advanceTimersByTime(ms);
const settled = (): Promise<void> => new Promise(setImmediate);
const command = 'get-token --key argument-that-is-secret';

/** A command that ends in these ways, one after the other, and then always in the last one. */
function commandThat(...ends: readonly Partial<CommandEnd>[]) {
  const run = vi.fn(async (): Promise<CommandEnd> => {
    const end = ends[Math.min(run.mock.calls.length, ends.length) - 1];
    return { out: '', errors: '', ...end };
  });
  const warnings: string[] = [];
  return { run, warnings, source: tokenFromRuns(command, run, (message) => void warnings.push(message)) };
}

/** The error for which there is no token. */
const failureOf = (...ends: readonly Partial<CommandEnd>[]): Promise<Error> =>
  commandThat(...ends)
    .source.current()
    .then(expect.unreachable, (reason) => reason);

const printing = (out: string | object): Partial<CommandEnd> => ({
  out: typeof out === 'string' ? out : JSON.stringify(out),
});
const failing = (errors: string, out = ''): Partial<CommandEnd> => ({
  out,
  errors,
  problem: 'failed with exit code 3',
});

describe('tokenFromCommand', () => {
  test('runs a program', async () => {
    const print = 'process.stdout.write(JSON.stringify({ token: process.argv[1] }))';
    expect(await tokenFromCommand([process.execPath, '-e', print, 'to-ken']).current()).toBe('to-ken');
  });

  test.each([
    ['get-token "my-secret', `The token command can't be used: a quote (") is not closed.`],
    [[], expect.stringContaining('write a program')],
  ])('refuses %j, without quoting it', (text, message) => {
    const read = () => tokenFromCommand(text);
    expect(read).toThrow(expect.objectContaining({ kind: 'usage', code: 'INVALID_SETTING', message }));
    expect(read).toThrow(expect.toSatisfy((error) => !inspect(error).includes('my-secret')));
  });

  test('names a program that is missing, and what to type', async () => {
    await expect(tokenFromCommand('no-such-program-of-cqbatch my-secret').current()).rejects.toMatchObject({
      kind: 'usage',
      code: 'TOKEN_UNREADABLE',
      message:
        'The token command no-such-program-of-cqbatch is not found. Install it, or write its whole path in --token-command ' +
        '(CQBATCH_TOKEN_COMMAND); ~ and $NAME have no meaning there.',
    });
  });
});

describe('what a command prints', () => {
  const token = 'my-token';
  const minuteLater = now + 60_000;

  test.each<[what: string, out: string | object, lifeMs?: number]>([
    ['a token', ' my-token\r\n'],
    ['a JSON string', '"my-token"\n'],
    ['JSON with access_token', { access_token: token, token_type: 'Bearer' }],
    ['expires_in', { token, expires_in: 3_600 }, 3_600_000],
    ['expires_at with an offset', { token, expires_at: '2026-11-26T13:10:00.5+01:00' }, 600_500],
    ['expiration', { token, expiration: minuteLater / 1_000 }, 60_000],
    ['Unix time in milliseconds', { token, expiry: minuteLater }, 60_000],
    ['an end in the past', { token, expiry: '2026-11-26T11:00:00Z' }],
    ['no readable end', { token, expiry: 'tomorrow', expires_in: 'soon' }],
  ])('may be %s', async (_, out, lifeMs) => {
    const { run, source } = commandThat(printing(out));
    const runsAfter = async (ms: number): Promise<number> => {
      pass(ms);
      await source.current();
      await settled();
      return run.mock.calls.length;
    };
    expect(await source.current()).toBe(token);
    const renewAt = lifeMs === undefined ? 1e10 : lifeMs - Math.min(30_000, lifeMs / 10);
    expect(await runsAfter(renewAt - 1)).toBe(1);
    expect(await runsAfter(1)).toBe(lifeMs === undefined ? 1 : 2);
  });

  const empty =
    /^The token command get-token printed nothing \(exit code 0\)\. Run the command in a terminal, /;
  const malformed = /^The token command get-token printed something that is no token .*"access_token"/;

  test.each([
    ['nothing', ' \n', 'TOKEN_EMPTY', empty],
    ['two lines', 'my-secret\nmore', 'TOKEN_MALFORMED', malformed],
    ['other JSON', '{"id_token": "my-secret"}', 'TOKEN_MALFORMED', malformed],
    ['half of JSON', '{"access_token": "my-secret', 'TOKEN_MALFORMED', malformed],
    ['a number', '{"access_token": 5}', 'TOKEN_MALFORMED', malformed],
  ])('must not be %s, which is not quoted', async (_, out, code, message) => {
    const error = await failureOf(printing(out));
    expect(error).toMatchObject({ code, kind: 'usage', message: expect.stringMatching(message) });
    expect(inspect(error, { depth: 10 })).not.toMatch(/secret/);
  });
});

describe('a command that fails', () => {
  test('is named by its program and its exit code, without what it says', async () => {
    const error = await failureOf(failing('\nno account for short-1\nmore\n'));
    expect(error).toMatchObject({
      code: 'TOKEN_UNREADABLE',
      message:
        'The token command get-token failed with exit code 3. It wrote 27 characters to standard error. Run the command in a ' +
        'terminal to see them, then correct it or --token-command (CQBATCH_TOKEN_COMMAND).',
    });
    expect(inspect(error, { depth: 10 })).not.toMatch(/argument-that-is-secret|short-1|account/);
  });

  test('and says nothing is to be run in a terminal', async () => {
    const { message } = await failureOf(failing(' \n'));
    expect(message).toContain('failed with exit code 3. Run the command in a terminal, then correct');
  });
});

describe('a command that fails while the token is valid', () => {
  const ok = printing({ token: 'my-token', expires_in: 100 });

  test('is one warning for each reason, and another one after a success', async () => {
    const { run, warnings, source } = commandThat(
      ...[ok, failing('away with my-token'), failing('away with my-token'), failing('still away'), ok],
      failing('away'),
    );
    await source.current();
    pass(90_000);
    for (let second = 0; second < 4; second++) {
      expect(await source.current()).toBe('my-token');
      await settled();
      pass(1_000);
    }
    expect(run).toHaveBeenCalledTimes(5);
    expect(warnings).toHaveLength(2);
    pass(90_000);
    await source.current();
    await settled();
    expect(
      warnings.map((text) => /^The token command get-token failed .* wrote (\d+) characters/.exec(text)?.[1]),
    ).toEqual(['18', '10', '4']);
  });
});
