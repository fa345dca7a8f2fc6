import { inspect } from 'node:util';
import { beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest';
import { steadyNow } from '../../../../src/base/async/clock.ts';
import { tokenFromCommand, tokenFromRuns } from '../../../../src/engine/api/token/from-command.ts';
import type { CommandEnd } from '../../../../src/engine/api/token/run-program.ts';
import { clientOf, httpServer, restore } from '../local-server.ts';

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['Date', 'performance'], now: Date.parse('2026-11-26T12:00:00Z') });
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

const printing = (out: string | object): Partial<CommandEnd> => ({
  out: typeof out === 'string' ? out : JSON.stringify(out),
});

describe('tokenFromCommand', () => {
  test('runs a program', async () => {
    const print = 'process.stdout.write(JSON.stringify({ token: process.argv[1] }))';
    expect(
      await tokenFromCommand([process.execPath, '-e', print, 'to ken'.replace(' ', '-')]).current(),
    ).toBe('to-ken');
  });

  test.each([
    ['a quote that is open', 'get-token "my-secret', 'a quote (") is not closed'],
    ['no words', [], 'write a program'],
  ])('refuses %s, without quoting it', (_, text, message) => {
    const error = thrownBy(() => tokenFromCommand(text));
    expect(error).toMatchObject({
      kind: 'usage',
      code: 'INVALID_SETTING',
      message: expect.stringContaining(message),
    });
    expect(inspect(error)).not.toContain('my-secret');
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
  test.each<[string, string | object, number | undefined]>([
    ['a token', ' my-token\r\n', undefined],
    ['a JSON string', '"my-token"\n', undefined],
    ['JSON with access_token', { access_token: 'my-token', token_type: 'Bearer' }, undefined],
    ['JSON with token', { token: 'my-token', expires_in: 'soon' }, undefined],
    ['expires_in', { access_token: 'my-token', expires_in: 3_600 }, 3_600_000],
    ['expires_in as text', { access_token: 'my-token', expires_in: '60' }, 60_000],
    ['expiry', { token: 'my-token', expiry: '2026-11-26T12:10:00Z' }, 600_000],
    ['expires_at with an offset', { token: 'my-token', expires_at: '2026-11-26T13:10:00.5+01:00' }, 600_500],
    ['expiration', { token: 'my-token', expiration: Date.parse('2026-11-26T12:01:00Z') / 1_000 }, 60_000],
    ['Unix time in milliseconds', { token: 'my-token', expiry: Date.parse('2026-11-26T12:01:00Z') }, 60_000],
    [
      'expires_on of az',
      { accessToken: 'my-token', expires_on: Date.parse('2026-11-26T12:01:00Z') / 1_000 },
      60_000,
    ],
    ['an end in the past', { token: 'my-token', expiry: '2026-11-26T11:00:00Z' }, undefined],
    ['no readable end', { token: 'my-token', expiry: 'tomorrow', expires_in: null }, undefined],
  ])('may be %s', async (_, out, lifeMs) => {
    const { run, source } = commandThat(printing(out));
    expect(await source.current()).toBe('my-token');
    if (lifeMs === undefined) {
      pass(1e10);
      await source.current();
    } else {
      pass(lifeMs - Math.min(30_000, lifeMs / 10) - 1);
      await source.current();
      await settled();
      expect(run).toHaveBeenCalledTimes(1);
      pass(1);
      await source.current();
      await settled();
    }
    expect(run).toHaveBeenCalledTimes(lifeMs === undefined ? 1 : 2);
  });

  test.each([
    [
      'nothing',
      ' \n',
      'TOKEN_EMPTY',
      /^The token command get-token printed nothing \(exit code 0\)\. Run the command in a terminal, then correct it or --token-command/,
    ],
    [
      'two lines',
      'my-secret\nmore',
      'TOKEN_MALFORMED',
      /^The token command get-token printed something that is no token .*"access_token"/,
    ],
    ['the scheme', 'Bearer my-secret', 'TOKEN_MALFORMED', /no token/],
    ['other JSON', '{"id_token": "my-secret"}', 'TOKEN_MALFORMED', /no token/],
    ['half of JSON', '{"access_token": "my-secret', 'TOKEN_MALFORMED', /no token/],
    ['an empty token', '{"access_token": ""}', 'TOKEN_MALFORMED', /no token/],
    ['a number', '{"access_token": 5}', 'TOKEN_MALFORMED', /no token/],
  ])('must not be %s, which is not quoted', async (_, out, code, message) => {
    const error = await failureOf(commandThat(printing(out)));
    expect(error).toMatchObject({ code, kind: 'usage', message: expect.stringMatching(message) });
    expect(inspect(error, { depth: 10 })).not.toMatch(/secret/);
  });
});

describe('a command that fails', () => {
  const failing = (errors: string, out = ''): Partial<CommandEnd> => ({
    out,
    errors,
    problem: 'failed with exit code 3',
  });

  test('is named by its program, its exit code and what it says first', async () => {
    const error = await failureOf(
      commandThat(failing('\n \u001b[31mERROR:\u001b[0m no account\u202e\nmore')),
    );
    expect(error).toMatchObject({
      code: 'TOKEN_UNREADABLE',
      message:
        'The token command get-token failed with exit code 3, and says: \\u001b[31mERROR:\\u001b[0m no account\\u202e. Run the ' +
        'command in a terminal, then correct it or --token-command (CQBATCH_TOKEN_COMMAND).',
    });
    expect(inspect(error, { depth: 10 })).not.toContain('argument-that-is-secret');
  });

  test.each([
    ['it has printed', 'bad short-1', 'short-1'],
    ['it has printed as JSON', 'bad short-1', '{"access_token": "short-1"}'],
    ['it has printed, with control characters inside', 'bad sho\u0000rt\u200b-1!', 'short-1'],
    ['it has printed, as a URL has it', 'https://x/?t=a%2Fb%2Bc', 'a/b+c'],
    ['looks like one', 'refused eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJhIn0.c2lnbmF0dXJlMQ', ''],
    ['looks like one in an address', 'GET https://x/ya29.a0AfH6SMBx7secretsecret/me', ''],
    ['has a name', 'token=short-1, "access_token": "short-1", client_secret: short-1', ''],
    ['has a scheme', 'authorization: Bearer short-1', ''],
  ])('shows no token that %s', async (_, errors, out) => {
    const { message } = (await failureOf(commandThat(failing(errors, out)))) as Error;
    expect(message).toContain('[token]');
    expect(message).not.toMatch(/short|ya29|eyJ|a%2F/);
  });

  test('shows no token that it printed before', async () => {
    const that = commandThat(printing('first'), printing('second'), failing('neither first nor second'));
    await that.source.current();
    await that.source.refresh('first');
    const error = await that.source.refresh('second').catch((reason: unknown) => reason);
    expect((error as Error).message).toContain('and says: neither [token] nor [token].');
  });

  test('keeps what is no token', async () => {
    const errors =
      'ERROR: (gcloud.auth.print-access-token) /usr/lib/google-cloud-sdk/lib: token: not found, try 3';
    expect(((await failureOf(commandThat(failing(errors)))) as Error).message).toContain(errors);
  });

  test('says a long line in part', async () => {
    const { message } = (await failureOf(commandThat(failing('word '.repeat(1e4))))) as Error;
    expect(message.length).toBeLessThan(600);
  });

  test('is a warning while the token is valid', async () => {
    const { warnings, source } = commandThat(
      printing({ token: 'my-token', expires_in: 100 }),
      failing('away with my-token'),
    );
    await source.current();
    pass(90_000);
    expect(await source.current()).toBe('my-token');
    await settled();
    expect(warnings).toEqual([
      expect.stringMatching(/^The token command get-token failed .* away with \[token\]\./),
    ]);
  });

  test('is one warning for each reason, and another one after a success', async () => {
    const ok = printing({ token: 'my-token', expires_in: 100 });
    const { run, warnings, source } = commandThat(
      ...[ok, failing('away'), failing('away'), failing('still away'), ok, failing('away')],
    );
    await source.current();
    pass(90_000);
    for (let second = 0; second < 4; second++) {
      await source.current();
      await settled();
      pass(1_000);
    }
    expect(run).toHaveBeenCalledTimes(5);
    expect(warnings).toHaveLength(2);
    pass(90_000);
    await source.current();
    await settled();
    expect(warnings.map((text) => / says: (.*?)\./.exec(text)?.[1])).toEqual(['away', 'still away', 'away']);
  });

  test('harms nothing when its listener fails', async () => {
    const emitted = vi.spyOn(process, 'emitWarning').mockImplementation(() => {});
    onTestFinished(() => emitted.mockRestore());
    const { run } = commandThat(printing({ token: 'my-token', expires_in: 100 }), failing('away'));
    const source = tokenFromRuns(command, run, () => {
      throw new Error('bad listener');
    });
    await source.current();
    pass(90_000);
    await source.current();
    await settled();
    expect(await source.current()).toBe('my-token');
    expect(emitted).toHaveBeenCalledWith(expect.stringContaining('bad listener'), 'CqbatchWarning');
  });

  test('warns the process by default', async () => {
    const emitted = vi.spyOn(process, 'emitWarning').mockImplementation(() => {});
    onTestFinished(() => emitted.mockRestore());
    const { run } = commandThat(printing({ token: 'my-token', expires_in: 100 }), failing('away'));
    const source = tokenFromRuns(command, run);
    await source.current();
    pass(90_000);
    await source.current();
    await settled();
    expect(emitted).toHaveBeenCalledWith(
      expect.stringMatching(/^The access token is not renewed yet: The token command get-token failed/),
      'CqbatchWarning',
    );
  });
});

describe('a minute of calls with tokens of three seconds', () => {
  /** An API that accepts each printed token for three seconds, and the calls of a minute, four at a time. */
  async function minuteOfCalls(print: (token: string) => string, commandMs = 0) {
    const endOf = new Map<string, number>();
    const waiting: { readonly at: number; readonly end: () => void }[] = [];
    const startedAt = steadyNow();
    const run = vi.fn(async (): Promise<CommandEnd> => {
      const at = steadyNow() + commandMs;
      if (commandMs > 0) await new Promise<void>((end) => void waiting.push({ at, end }));
      const token = `token-${run.mock.calls.length}`;
      endOf.set(token, steadyNow() + 3_000);
      return { out: print(token), errors: '' };
    });
    let refused = 0;
    const server = await httpServer((response, { headers }) => {
      const end = endOf.get(headers.authorization?.replace('Bearer ', '') ?? '') ?? 0;
      const isAccepted = steadyNow() < end;
      if (!isAccepted) refused++;
      response.writeHead(isAccepted ? 200 : 401).end('{}');
    });
    const client = clientOf(server.url, { token: tokenFromRuns(command, run) });
    let answered = 0;
    while (steadyNow() - startedAt < 60_000) {
      const calls = Array.from({ length: 4 }, () => client.send(restore));
      for (let isOver = false; !isOver; ) {
        const over = Promise.all(calls).then(() => true);
        isOver = await Promise.race([over, settled().then(() => false)]);
        // Time passes only while calls wait for a command.
        if (!isOver && waiting.length > 0) pass(10);
        for (const { at, end } of waiting.splice(0)) {
          if (at <= steadyNow()) end();
          else waiting.push({ at, end });
        }
      }
      for (const { ok } of await Promise.all(calls)) if (ok) answered++;
      pass(100);
    }
    return {
      runs: run.mock.calls.length,
      tokens: endOf.size,
      refused,
      failed: server.seen.length - refused - answered,
    };
  }

  test('runs the command once for each end, when it does not say when that is', async () => {
    const { runs, refused, failed } = await minuteOfCalls((token) => `${token}\n`);
    // Each end is noticed by four calls.
    expect({ runs, refused, failed }).toEqual({ runs: 20, refused: 19 * 4, failed: 0 });
  });

  test('runs the command once before each end, when it says when that is, and no call is refused', async () => {
    const json = (token: string): string => JSON.stringify({ access_token: token, expires_in: 3 });
    // Each is renewed after 2.7 s.
    expect(await minuteOfCalls(json)).toEqual({ runs: 23, tokens: 23, refused: 0, failed: 0 });
  });

  test('does so, too, when the command takes its time', async () => {
    const { runs, failed } = await minuteOfCalls((token) => token, 500);
    expect(failed).toBe(0);
    expect(runs).toBe(Math.ceil(60_000 / 3_500));
  });
});

test('a call that comes back late takes the token that another one has had renewed', async () => {
  const { run, source } = commandThat(printing('first'), printing('second'), printing('third'));
  let answerFirst: (() => void) | undefined;
  const server = await httpServer((response, { headers }) => {
    if (headers.authorization === 'Bearer second') response.end('{}');
    else if (answerFirst === undefined) answerFirst = () => void response.writeHead(401).end();
    else response.writeHead(401).end();
  });
  const client = clientOf(server.url, { token: source });
  const late = client.send(restore);
  await expect.poll(() => answerFirst).toBeDefined();
  expect(await Promise.all([client.send(restore), client.send(restore)])).toMatchObject([
    { ok: true, requests: 2 },
    { ok: true, requests: 2 },
  ]);
  answerFirst?.();
  expect(await late).toMatchObject({ ok: true, requests: 2 });
  expect(run).toHaveBeenCalledTimes(2);
});

async function failureOf({ source }: Pick<ReturnType<typeof commandThat>, 'source'>): Promise<unknown> {
  return source.current().then(
    () => undefined,
    (reason: unknown) => reason,
  );
}

function thrownBy(action: () => unknown): unknown {
  try {
    return action();
  } catch (error) {
    return error;
  }
}
