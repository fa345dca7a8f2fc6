import { createServer as createTlsServer } from 'node:https';
import type { Socket } from 'node:net';
import { describe, expect, test } from 'vitest';
import { chooseProxy } from '../../../../src/engine/api/network/proxy.ts';
import { startProxy } from '../../../helpers/proxy.ts';
import { clientOf, deadUrl, endOf, httpServer, listen, restore, socketServer } from '../local-server.ts';
import { selfSigned } from '../self-signed.ts';

const api = 'https://api.example.com';
const proxyUrl = 'http://proxy.example.com:3128';

describe('the proxy', () => {
  test.each([
    ['of https_proxy first', { HTTPS_PROXY: 'http://other', https_proxy: proxyUrl }, 'https_proxy'],
    ['of HTTPS_PROXY, when https_proxy is empty', { HTTPS_PROXY: proxyUrl, https_proxy: '' }, 'HTTPS_PROXY'],
    ['of HTTP_PROXY, when no other is set', { HTTP_PROXY: proxyUrl }, 'HTTP_PROXY'],
    ['without a scheme', { HTTPS_PROXY: 'proxy.example.com:3128' }, 'HTTPS_PROXY'],
    ['with a slash at its end', { HTTPS_PROXY: `${proxyUrl}/` }, 'HTTPS_PROXY'],
  ])('is that %s', (_title, variables, variable) => {
    expect(chooseProxy(api, { variables })).toEqual({ url: proxyUrl, variable });
  });

  test.each([
    ['no variable is set', {}],
    ['NO_PROXY names the host', { HTTPS_PROXY: proxyUrl, NO_PROXY: 'other.com, api.example.com' }],
    ['NO_PROXY names the domain', { HTTPS_PROXY: proxyUrl, NO_PROXY: '.example.com' }],
    ['NO_PROXY names the port', { HTTPS_PROXY: proxyUrl, NO_PROXY: 'api.example.com:443' }],
    ['NO_PROXY is an asterisk', { HTTPS_PROXY: proxyUrl, NO_PROXY: '*' }],
    ['no_proxy does', { HTTPS_PROXY: proxyUrl, no_proxy: 'example.com' }],
  ])('is absent when %s', (_title, variables) => {
    expect(chooseProxy(api, { variables })).toBeUndefined();
  });

  test.each([
    ['no URL', 'http://pass:word@', 'HTTPS_PROXY is not a valid URL'],
    ['SOCKS', 'socks5://user:secret@proxy:1080', 'HTTPS_PROXY is not an HTTP proxy'],
    [
      'a password with a slash',
      'http://user:12/secret@proxy:3128',
      'HTTPS_PROXY must percent-encode / ? # @ %',
    ],
    ['a password with a number sign', 'http://us#secret:pw@proxy:3128', 'HTTPS_PROXY must percent-encode'],
    ['a password with a question mark', 'user:12?secret@proxy:3128', 'HTTPS_PROXY must percent-encode'],
    ['a password with a backslash', 'http://user:12\\secret@proxy:3128', '\\ (%5C)'],
    ['a stray percent sign', 'http://user:sec%ret@proxy:3128', 'HTTPS_PROXY has a "%" in its user name'],
  ])('is refused when it is %s, without quoting it', (_title, text, problem) => {
    const choose = () => chooseProxy(api, { variables: { HTTPS_PROXY: text } });
    expect(choose).toThrow(expect.objectContaining({ kind: 'usage', code: 'PROXY_INVALID' }));
    expect(choose).toThrow(problem);
    expect(choose).not.toThrow(/sec|word@/);
  });

  test('on another machine gets no unencrypted token', () => {
    const variables = { HTTP_PROXY: 'http://user:secret@proxy.example.com:3128' };
    const choose = () => chooseProxy('http://127.0.0.1:8791', { variables });
    expect(choose).toThrow(expect.objectContaining({ kind: 'usage', code: 'PROXY_INSECURE' }));
    expect(choose).toThrow('set NO_PROXY=127.0.0.1 to bypass the proxy');
    expect(choose).not.toThrow('secret');
    const chosen = chooseProxy('http://127.0.0.1:8791', { variables, allowInsecureHttp: true });
    expect(chosen).toMatchObject({ url: proxyUrl });
    const local = chooseProxy('http://127.0.0.1:8791', { variables: { HTTP_PROXY: '127.0.0.1:8080' } });
    expect(local).toMatchObject({ url: 'http://127.0.0.1:8080' });
  });
});

const answering = () => httpServer((response) => response.end('{"ok":true}'));

/** A client whose calls go through this proxy unless NO_PROXY says otherwise. */
function through(proxy: string, url: string, connectMs = 30_000) {
  const proxyVariables = { http_proxy: proxy, no_proxy: '' };
  return clientOf(url, {
    proxyVariables,
    connections: 2,
    allowInsecureHttp: true,
    timeouts: { connectMs },
  });
}

describe('a call through a proxy', () => {
  test('is tunnelled, even to plain http: the target gets the token, and the proxy its own password', async () => {
    const server = await answering();
    const proxy = await startProxy({ user: 'us@er', password: 'pa:ss' });
    const client = through(proxy.url.replace('//', '//us%40er:pa%3Ass@'), server.url);
    const answers = await Promise.all(Array.from({ length: 20 }, () => client.send(restore)));
    expect(answers.every((answer) => answer.ok && answer.requests === 1)).toBe(true);
    expect(server.seen).toHaveLength(20);
    expect(server.seen[0]).toMatchObject({ method: 'POST', path: '/api/restore', body: restore.body });
    expect(server.seen[0]?.headers).toMatchObject({
      authorization: 'Bearer secret-token',
      host: new URL(server.url).host,
    });
    expect(server.seen[0]?.headers).not.toHaveProperty('proxy-authorization');
    // Tunnels are kept, one for each connection.
    expect(proxy.seen).toHaveLength(2);
    for (const { method, target, headers } of proxy.seen) {
      expect({ method, target }).toEqual({ method: 'CONNECT', target: new URL(server.url).host });
      expect(headers['proxy-authorization']).toMatch(/^Basic /);
      expect(JSON.stringify(headers)).not.toContain('secret-token');
    }
  });

  test('fails for an untrusted certificate behind the proxy', async () => {
    const proxy = await startProxy();
    const server = createTlsServer(selfSigned, (_, response) => response.end('{}'));
    const url = (await listen(server)).replace('http:', 'https:');
    const answer = await through(proxy.url, url).send(restore);
    expect(endOf(answer)).toBe('unreachable TLS_ERROR, requests: 0');
    const message = expect.stringContaining(`through the proxy ${proxy.url} (http_proxy)`);
    expect(answer).toMatchObject({ failure: { message } });
  });
});

describe('trouble of the proxy is reported as such, and nothing was sent:', () => {
  const talking = (talk: (socket: Socket) => void) => () => socketServer(talk);
  const proxyWith = (options: Parameters<typeof startProxy>[0]) => async () =>
    (await startProxy(options)).url;
  const withPassword = proxyWith({ user: 'user', password: 'x' });
  const own = proxyWith({ https: selfSigned });
  const unreachable = 'unreachable PROXY_UNREACHABLE';

  async function expectTrouble(url: string, failure: string, message: unknown, connectMs?: number) {
    const server = await answering();
    const proxy = url.replace('http://', 'http://user:secret@');
    const answer = await through(proxy, server.url, connectMs).send(restore);
    expect(endOf(answer)).toBe(`${failure}, requests: 0`);
    expect(answer).toMatchObject({ failure: { message } });
    expect(JSON.stringify(answer)).toContain(url);
    expect(JSON.stringify(answer)).not.toMatch(/secret|c2VjcmV0/);
    expect(server.seen).toEqual([]);
  }

  test.each<[trouble: string, start: () => Promise<string>, failure: string, said: string]>([
    ['nothing listens', deadUrl, unreachable, 'ECONNREFUSED'],
    ['it hangs up', talking((socket) => socket.end()), unreachable, 'UND_ERR_SOCKET'],
    ['it cannot connect', proxyWith({ refuse: 502 }), 'unreachable PROXY_BAD_GATEWAY', '(502)'],
    ['it forbids', proxyWith({ refuse: 403 }), 'halt PROXY_REFUSED', '(403)'],
    [
      'its own certificate',
      async () => (await own()).replace('127.0.0.1', 'localhost'),
      unreachable,
      'NODE_EXTRA_CA_CERTS',
    ],
    [
      'another password',
      withPassword,
      'halt PROXY_AUTHENTICATION',
      'refuses the user name and password of http_',
    ],
  ])('%s', async (_trouble, start, failure, said) => {
    await expectTrouble(await start(), failure, expect.stringContaining(said));
  });

  test('it never answers', async () => {
    // Where even the connection takes too long, that is said.
    const said = expect.stringMatching(/UND_ERR_(HEADERS|CONNECT)_TIMEOUT/);
    await expectTrouble(await socketServer(() => {}), unreachable, said, 500);
  });

  test('no password', async () => {
    const answer = await through(await withPassword(), 'http://127.0.0.1:9').send(restore);
    expect(endOf(answer)).toBe('halt PROXY_AUTHENTICATION, requests: 0');
    const message = expect.stringContaining('requires a user name and password (407)');
    expect(answer).toMatchObject({ failure: { message } });
  });
});
