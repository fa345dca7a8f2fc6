import { writeFile } from 'node:fs/promises';
import type { ServerResponse } from 'node:http';
import { join } from 'node:path';
import { inspect } from 'node:util';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { CqbatchError } from '../../../../src/base/errors/errors.ts';
import { tokenFromFile } from '../../../../src/engine/api/token/from-file.ts';
import { type TokenSource, tokenFromValue, tokenMark } from '../../../../src/engine/api/token/token.ts';
import { temporaryFolder } from '../../../helpers/temporary-folder.ts';
import { clientOf, httpServer, type LocalServer, restore } from '../local-server.ts';

const bad: readonly (readonly [string, string, string])[] = [
  ['nothing', '', 'TOKEN_EMPTY'],
  ['white space', ' \n', 'TOKEN_EMPTY'],
  ['a line break inside', 'secret\nX-Other: 1', 'TOKEN_MALFORMED'],
  ['a control character', 'secret\u0000', 'TOKEN_MALFORMED'],
  ['the scheme', 'Bearer secret', 'TOKEN_MALFORMED'],
  ['letters beyond ASCII', 'secrét', 'TOKEN_MALFORMED'],
  ['far too much', 'secret'.repeat(5000), 'TOKEN_MALFORMED'],
];

describe('tokenFromValue', () => {
  test('drops the line break at the end', async () => {
    expect(await tokenFromValue('abc.def-_~+/=\r\n').current()).toBe('abc.def-_~+/=');
  });

  test('cannot be refreshed', async () => {
    expect(await tokenFromValue('abc').refresh()).toBeUndefined();
  });

  test.each(bad)('refuses %s without quoting it', (_, text, code) => {
    const error = thrownBy(() => tokenFromValue(text));
    expect(error).toBeInstanceOf(CqbatchError);
    expect(error).toMatchObject({ code, kind: 'usage' });
    expect(inspect(error)).not.toContain('secr');
  });
});

describe('tokenFromFile', () => {
  test('reads the file once, and again on refresh', async () => {
    const { path, write } = await tokenFile('first\n');
    const source = tokenFromFile(path);
    expect(await source.current()).toBe('first');
    await write('second');
    expect(await source.current()).toBe('first');
    expect(await source.refresh()).toBe('second');
    expect(await source.current()).toBe('second');
  });

  test('reads the file once for calls that are refused at the same time', async () => {
    const source = tokenFromFile((await tokenFile('first')).path);
    expect(source.refresh()).toBe(source.refresh());
  });

  test('recovers when the file comes back', async () => {
    const { path, write } = await tokenFile('');
    const source = tokenFromFile(path);
    await expect(source.current()).rejects.toMatchObject({ code: 'TOKEN_EMPTY' });
    await write('now');
    expect(await source.current()).toBe('now');
  });

  test('names a file that cannot be read', async () => {
    const reading = tokenFromFile('/no/such/file').current();
    await expect(reading).rejects.toMatchObject({
      code: 'TOKEN_UNREADABLE',
      kind: 'usage',
      message: expect.stringContaining('/no/such/file cannot be read (ENOENT)'),
    });
  });

  test.each(bad)('refuses a file with %s without quoting it', async (_, text, code) => {
    const error = await tokenFromFile((await tokenFile(text)).path)
      .current()
      .catch((reason: unknown) => reason);
    expect(error).toMatchObject({ code });
    expect(inspect(error)).not.toContain('secr');
  });

  test('shows no token when it is inspected', async () => {
    const source = tokenFromFile((await tokenFile('very-secret')).path);
    await source.current();
    expect(inspect(source, { showHidden: true, depth: 10 })).not.toContain('very-secret');
    expect(inspect(tokenFromValue('very-secret'), { showHidden: true, depth: 10 })).not.toContain(
      'very-secret',
    );
  });
});

describe('tokenMark', () => {
  test('has the same value everywhere and always', () => {
    expect(['a', 'b', 'secret'].map(tokenMark)).toEqual(['991f', 'd9bc', 'ad46']);
  });

  test('is four hexadecimal digits', () => {
    fc.assert(fc.property(fc.string(), (token) => /^[0-9a-f]{4}$/.test(tokenMark(token))));
  });

  test('reveals nothing about its token', () => {
    const tokens = Array.from({ length: 200 }, (_, index) => `${index.toString(16).padStart(4, '0')}-secret`);
    expect(tokens.filter((token) => token.startsWith(tokenMark(token)))).toEqual([]);
    // Similar tokens have different marks.
    expect(new Set(tokens.map(tokenMark)).size).toBeGreaterThan(190);
  });
});

describe('a client whose token is refused', () => {
  test('reads it again and sends the request once more when it changed', async () => {
    const { path, write } = await tokenFile('old');
    let accepted = 'old';
    const server = await serverAccepting(() => accepted);
    const client = clientOf(server.url, { token: tokenFromFile(path) });
    expect(await client.send(restore)).toMatchObject({ ok: true, requests: 1 });
    await write('new');
    accepted = 'new';
    expect(await client.send(restore)).toMatchObject({ ok: true, requests: 2 });
    expect(await client.send(restore)).toMatchObject({ ok: true, requests: 1 });
  });

  test('does so for every call refused at the same time', async () => {
    const { path, write } = await tokenFile('old');
    let accepted = 'old';
    const server = await serverAccepting(() => accepted);
    const client = clientOf(server.url, { token: tokenFromFile(path) });
    await client.send(restore);
    await write('new');
    accepted = 'new';
    const answers = await Promise.all(Array.from({ length: 8 }, () => client.send(restore)));
    expect(answers.every((answer) => answer.ok)).toBe(true);
  });

  test('reads it for the next call when it changed after the refusal', async () => {
    const { path, write } = await tokenFile('old');
    const server = await serverAccepting(() => 'new');
    const client = clientOf(server.url, { token: tokenFromFile(path) });
    expect(await client.send(restore)).toMatchObject({ ok: false });
    await write('new');
    expect(await client.send(restore)).toMatchObject({ ok: true, requests: 1 });
  });

  test('takes the one that another call has read meanwhile, and does not read it again', async () => {
    const { path, write } = await tokenFile('old');
    const late: ServerResponse[] = [];
    const server = await httpServer((response, { headers }) => {
      if (headers.authorization === 'Bearer new') response.end('{}');
      else if (server.seen.length === 1) late.push(response);
      else response.writeHead(401).end();
    });
    const client = clientOf(server.url, { token: tokenFromFile(path) });
    const first = client.send(restore);
    await expect.poll(() => late.length).toBe(1);
    await write('new');
    expect(await client.send(restore)).toMatchObject({ ok: true, requests: 2 });
    await write('');
    late[0]?.writeHead(401).end();
    expect(await first).toMatchObject({ ok: true, requests: 2 });
  });

  test('is renewed once more when the one of another call has ended meanwhile, too', async () => {
    let tokens = ['first', 'second', 'third'];
    const source: TokenSource = {
      current: async () => tokens[0] ?? '',
      refresh: async (refused) => {
        tokens = tokens.filter((token) => token !== refused);
        return tokens[0];
      },
    };
    const late: ServerResponse[] = [];
    let accepted = 'second';
    const server = await httpServer((response, { headers }) => {
      if (headers.authorization === `Bearer ${accepted}`) response.end('{}');
      else if (server.seen.length === 1) late.push(response);
      else response.writeHead(401).end();
    });
    const client = clientOf(server.url, { token: source });
    const first = client.send(restore);
    await expect.poll(() => late.length).toBe(1);
    expect(await client.send(restore)).toMatchObject({ ok: true, requests: 2 });
    accepted = 'third';
    late[0]?.writeHead(401).end();
    expect(await first).toMatchObject({ ok: true, requests: 3 });
  });

  test('halts when it did not change', async () => {
    const server = await serverAccepting('new');
    const client = clientOf(server.url, { token: tokenFromFile((await tokenFile('old')).path) });
    expect(await client.send(restore)).toMatchObject({
      requests: 1,
      failure: { class: 'halt', code: 'UNAUTHENTICATED', status: 401, unclear: false },
    });
  });

  test('halts when the new one is also refused, after two requests', async () => {
    const { path, write } = await tokenFile('old');
    const server = await serverAccepting('newest', () => void write('new'));
    const client = clientOf(server.url, { token: { ...tokenFromFile(path), refresh: async () => 'new' } });
    expect(await client.send(restore)).toMatchObject({ requests: 2, failure: { code: 'UNAUTHENTICATED' } });
  });

  test('halts when it is given as a value', async () => {
    const server = await serverAccepting('new');
    expect(await clientOf(server.url, { token: 'old' }).send(restore)).toMatchObject({
      requests: 1,
      failure: { class: 'halt' },
    });
  });

  test('never shows it, even if the server quotes it', async () => {
    const server = await serverAccepting('new');
    const answer = await clientOf(server.url, { token: 'my-secret' }).send(restore);
    expect(inspect(answer, { depth: 10 })).not.toContain('my-secret');
    expect(answer).toMatchObject({
      failure: { message: 'The API refuses the token: unknown token [token]' },
    });
  });
});

test('a token source may be an object with methods', async () => {
  class Vault implements TokenSource {
    readonly #tokens = ['old', 'new'];
    async current(): Promise<string> {
      return this.#tokens[0] ?? '';
    }
    async refresh(): Promise<string | undefined> {
      this.#tokens.shift();
      return this.#tokens[0];
    }
  }
  const server = await serverAccepting('new');
  expect(await clientOf(server.url, { token: new Vault() }).send(restore)).toMatchObject({
    ok: true,
    requests: 2,
  });
});

test('a client that waits for a token can be stopped, and has sent nothing', async () => {
  const server = await serverAccepting('x');
  const source: TokenSource = { current: () => new Promise(() => {}), refresh: async () => undefined };
  const controller = new AbortController();
  const call = clientOf(server.url, { token: source }).send(restore, { signal: controller.signal });
  controller.abort();
  expect(await call).toMatchObject({
    requests: 0,
    failure: { class: 'aborted', code: 'INTERRUPTED', unclear: false },
  });
  expect(server.seen).toHaveLength(0);
});

describe('a client without an available token', () => {
  const failing: TokenSource = {
    current: () => Promise.reject(new Error('vault said: my-secret')),
    refresh: async () => undefined,
  };

  test.each([
    ['the file is missing', tokenFromFile('/no/such/file'), 'TOKEN_UNREADABLE'],
    ['the caller’s source fails', failing, 'TOKEN_UNREADABLE'],
    ['the caller’s source gives nonsense', { ...failing, current: async () => 'a b' }, 'TOKEN_MALFORMED'],
  ])('halts without a request when %s', async (_, token, code) => {
    const server = await serverAccepting('x');
    const answer = await clientOf(server.url, { token }).send(restore);
    expect(answer).toMatchObject({ requests: 0, failure: { class: 'halt', code, unclear: false } });
    expect(inspect(answer, { depth: 10 })).not.toContain('my-secret');
    expect(server.seen).toHaveLength(0);
  });
});

async function tokenFile(text: string): Promise<{ path: string; write: (text: string) => Promise<void> }> {
  const path = join(await temporaryFolder(), 'token');
  const write = (content: string): Promise<void> => writeFile(path, content);
  await write(text);
  return { path, write };
}

function serverAccepting(token: string | (() => string), onRefusal = (): void => {}): Promise<LocalServer> {
  return httpServer((response, { headers }) => {
    if (headers.authorization === `Bearer ${typeof token === 'string' ? token : token()}`) {
      response.end('{}');
    } else {
      onRefusal();
      const given = headers.authorization?.replace('Bearer ', '');
      response.writeHead(401).end(JSON.stringify({ code: 16, message: `unknown token ${given}` }));
    }
  });
}

function thrownBy(action: () => unknown): unknown {
  try {
    return action();
  } catch (error) {
    return error;
  }
}
