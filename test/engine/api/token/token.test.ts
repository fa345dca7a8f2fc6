import { writeFile } from 'node:fs/promises';
import type { ServerResponse } from 'node:http';
import { join } from 'node:path';
import { inspect } from 'node:util';
import { describe, expect, test } from 'vitest';
import { CqbatchError } from '../../../../src/base/errors/errors.ts';
import { tokenFromFile } from '../../../../src/engine/api/token/renewed-token.ts';
import { type TokenSource, tokenFromValue, tokenMark } from '../../../../src/engine/api/token/token.ts';
import { temporaryFolder } from '../../../helpers/temporary-folder.ts';
import { callTo, clientOf, endOf, httpServer, type LocalServer, restore } from '../local-server.ts';

const bad: readonly (readonly [string, string, string])[] = [
  ['a line break inside', 'secret\nX-Other: 1', 'TOKEN_MALFORMED'],
  ['a control character', 'secret\u0000', 'TOKEN_MALFORMED'],
  ['letters beyond ASCII', 'secrét', 'TOKEN_MALFORMED'],
  ['far too much', 'secret'.repeat(5000), 'TOKEN_MALFORMED'],
];

test('a token that is given as a value loses the line break at its end, and cannot be refreshed', async () => {
  const source = tokenFromValue('abc.def-_~+/=\r\n');
  expect(await source.current()).toBe('abc.def-_~+/=');
  expect(await source.refresh()).toBeUndefined();
});

test.each(bad)('%s is no token, given or in a file, and is not quoted', async (_, text, code) => {
  const { path } = await tokenFile(text);
  for (const read of [async () => tokenFromValue(text).current(), tokenFromFile(path).current]) {
    const error = await read().then(expect.unreachable, (reason) => reason);
    expect(error).toBeInstanceOf(CqbatchError);
    expect(error).toMatchObject({ code, kind: 'usage' });
    expect(inspect(error)).not.toContain('secr');
  }
});

describe('tokenFromFile', () => {
  test('reads the file once, again on refresh, and when it was empty', async () => {
    const { path, write } = await tokenFile('');
    const source = tokenFromFile(path);
    await expect(source.current()).rejects.toMatchObject({ code: 'TOKEN_EMPTY' });
    await write('first\n');
    expect(await source.current()).toBe('first');
    await write('second');
    expect(await source.current()).toBe('first');
    expect(await source.refresh()).toBe('second');
    expect(await source.current()).toBe('second');
  });

  test('shows no token when it is inspected', async () => {
    const source = tokenFromFile((await tokenFile('very-secret')).path);
    await source.current();
    for (const each of [source, tokenFromValue('very-secret')])
      expect(inspect(each, { showHidden: true, depth: 10 })).not.toContain('very-secret');
  });
});

describe('tokenMark', () => {
  test('has the same value everywhere and always', () => {
    expect(['a', 'b', 'secret'].map(tokenMark)).toEqual(['991f', 'd9bc', 'ad46']);
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

  test('reads it for the next call when it changed after the refusal', async () => {
    const { path, write } = await tokenFile('old');
    const client = clientOf((await serverAccepting(() => 'new')).url, { token: tokenFromFile(path) });
    expect(await client.send(restore)).toMatchObject({ ok: false });
    await write('new');
    expect(await client.send(restore)).toMatchObject({ ok: true, requests: 1 });
  });

  test('halts when it can not be read again', async () => {
    const token = { current: async () => 'stale', refresh: () => Promise.reject(new Error('no token')) };
    const answer = await callTo((await serverAccepting(() => 'new')).url, { token });
    expect(endOf(answer)).toBe('halt TOKEN_UNREADABLE, requests: 1');
  });

  test.each([
    ['takes the one that another call has had renewed meanwhile', 'second', 2],
    ['takes the next one, when that of the other call has ended, too', 'third', 3],
  ])('%s', async (_, acceptedLate, requests) => {
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
    accepted = acceptedLate;
    late[0]?.writeHead(401).end();
    expect(await first).toMatchObject({ ok: true, requests });
  });

  test.each([
    ['it is the same in its file', async () => tokenFromFile((await tokenFile('my-secret')).path), 1],
    [
      'the new one is refused, too',
      async () => ({ ...tokenFromValue('a-b-c'), refresh: async () => 'my-secret' }),
      2,
    ],
  ])('halts when %s, and never shows it, even if the server quotes it', async (_, token, requests) => {
    const { url } = await serverAccepting(() => 'new');
    const answer = await callTo(url, { token: await token() });
    expect(answer).toMatchObject({
      requests,
      failure: {
        class: 'halt',
        code: 'UNAUTHENTICATED',
        message: 'The API rejected the token: unknown token [token]',
        status: 401,
        unclear: false,
      },
    });
    expect(inspect(answer, { depth: 10 })).not.toContain('my-secret');
  });
});

test('a client that waits for a token can be stopped, and has sent nothing', async () => {
  const server = await serverAccepting(() => 'x');
  const source: TokenSource = { current: () => new Promise(() => {}), refresh: async () => undefined };
  const controller = new AbortController();
  const call = clientOf(server.url, { token: source }).send(restore, { signal: controller.signal });
  controller.abort();
  expect(endOf(await call)).toBe('aborted INTERRUPTED, requests: 0');
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
  ])('halts without a request when %s', async (_, token, code) => {
    const server = await serverAccepting(() => 'x');
    const answer = await callTo(server.url, { token });
    expect(endOf(answer)).toBe(`halt ${code}, requests: 0`);
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

function serverAccepting(token: () => string): Promise<LocalServer> {
  return httpServer((response, { headers: { authorization } }) => {
    if (authorization === `Bearer ${token()}`) return response.end('{}');
    const message = `unknown token ${authorization?.replace('Bearer ', '')}`;
    return response.writeHead(401).end(JSON.stringify({ code: 16, message }));
  });
}
