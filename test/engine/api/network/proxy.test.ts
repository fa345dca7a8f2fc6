import { createServer as createTlsServer } from 'node:https';
import type { Socket } from 'node:net';
import { describe, expect, onTestFinished, test } from 'vitest';
import { chooseProxy } from '../../../../src/engine/api/network/proxy.ts';
import { startProxy } from '../../../helpers/proxy.ts';
import { clientOf, deadUrl, httpServer, listen, restore, socketServer } from '../local-server.ts';
import { selfSigned } from '../self-signed.ts';

const api = 'https://api.example.com';
const proxyUrl = 'http://proxy.example.com:3128';

describe('the proxy', () => {
  test.each([
    ['of HTTPS_PROXY', { HTTPS_PROXY: proxyUrl }, 'HTTPS_PROXY'],
    ['of https_proxy first', { HTTPS_PROXY: 'http://other', https_proxy: proxyUrl }, 'https_proxy'],
    ['of HTTPS_PROXY, when https_proxy is empty', { HTTPS_PROXY: proxyUrl, https_proxy: '' }, 'HTTPS_PROXY'],
    ['of HTTP_PROXY, when no other is set', { HTTP_PROXY: proxyUrl }, 'HTTP_PROXY'],
    ['of HTTPS_PROXY first', { HTTP_PROXY: 'http://other', HTTPS_PROXY: proxyUrl }, 'HTTPS_PROXY'],
    ['without a scheme', { HTTPS_PROXY: 'proxy.example.com:3128' }, 'HTTPS_PROXY'],
    ['with a slash and blanks', { HTTPS_PROXY: ` ${proxyUrl}/ ` }, 'HTTPS_PROXY'],
    [
      'that NO_PROXY bypasses for other hosts',
      { HTTPS_PROXY: proxyUrl, NO_PROXY: 'example.org,localhost' },
      'HTTPS_PROXY',
    ],
  ])('is that %s', (_title, variables, variable) => {
    expect(chooseProxy(api, { variables })).toEqual({ url: proxyUrl, variable });
  });

  test('keeps its user name and password separate from its URL', () => {
    const variables = { HTTPS_PROXY: 'http://us%40er:pa%3Ass@proxy.example.com:3128' };
    expect(chooseProxy(api, { variables })).toEqual({
      url: proxyUrl,
      variable: 'HTTPS_PROXY',
      authorization: `Basic ${Buffer.from('us@er:pa:ss').toString('base64')}`,
    });
  });

  test.each([
    ['no variable is set', {}],
    ['the variables are empty', { HTTPS_PROXY: '', HTTP_PROXY: ' ' }],
    ['NO_PROXY names the host', { HTTPS_PROXY: proxyUrl, NO_PROXY: 'other.com, api.example.com' }],
    ['NO_PROXY names the domain', { HTTPS_PROXY: proxyUrl, NO_PROXY: '.example.com' }],
    ['NO_PROXY names the domain with an asterisk', { HTTPS_PROXY: proxyUrl, NO_PROXY: '*.example.com' }],
    ['NO_PROXY names the port', { HTTPS_PROXY: proxyUrl, NO_PROXY: 'api.example.com:443' }],
    ['NO_PROXY is an asterisk', { HTTPS_PROXY: proxyUrl, NO_PROXY: '*' }],
    ['no_proxy does', { HTTPS_PROXY: proxyUrl, no_proxy: 'example.com' }],
  ])('is absent when %s', (_title, variables) => {
    expect(chooseProxy(api, { variables })).toBeUndefined();
  });

  test('does not come from the environment of this machine', () => {
    process.env['HTTPS_PROXY'] = proxyUrl;
    process.env['NO_PROXY'] = '*';
    onTestFinished(() => {
      delete process.env['HTTPS_PROXY'];
      delete process.env['NO_PROXY'];
    });
    expect(chooseProxy(api, { variables: {} })).toBeUndefined();
    expect(chooseProxy(api, { variables: { HTTPS_PROXY: proxyUrl } })).toMatchObject({ url: proxyUrl });
  });

  test.each([
    ['no URL', 'http://pass:word@', 'HTTPS_PROXY is not a valid URL'],
    ['no port', 'http://user:secret@proxy:port', 'HTTPS_PROXY is not a valid URL'],
    ['SOCKS', 'socks5://user:secret@proxy:1080', 'HTTPS_PROXY is not an HTTP proxy'],
    [
      'a stray percent sign',
      'http://user:sec%ret@proxy:3128',
      'HTTPS_PROXY has a "%" in its user name or password',
    ],
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
    expect(chooseProxy('http://127.0.0.1:8791', { variables, allowInsecureHttp: true })).toMatchObject({
      url: proxyUrl,
    });
    expect(
      chooseProxy('http://127.0.0.1:8791', { variables: { HTTP_PROXY: '127.0.0.1:8080' } }),
    ).toMatchObject({
      url: 'http://127.0.0.1:8080',
    });
  });
});

const answering = () => httpServer((response) => response.end('{"ok":true}'));

/** A client whose calls go through this proxy unless NO_PROXY says otherwise. */
function through(proxy: string, url: string, noProxy = '') {
  const proxyVariables = { http_proxy: proxy, no_proxy: noProxy };
  return clientOf(url, {
    proxyVariables,
    connections: 2,
    allowInsecureHttp: true,
    timeouts: { connectMs: 500, totalMs: 30_000 },
  });
}

describe('a call through a proxy', () => {
  test('is tunnelled, even to plain http, and only the target gets the token', async () => {
    const server = await answering();
    const proxy = await startProxy();
    const client = through(proxy.url, server.url);
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
      expect(JSON.stringify(headers)).not.toContain('secret-token');
    }
  });

  test('authenticates only to the proxy', async () => {
    const server = await answering();
    const proxy = await startProxy({ user: 'us@er', password: 'pa:ss' });
    const url = proxy.url.replace('//', '//us%40er:pa%3Ass@');
    expect(await through(url, server.url).send(restore)).toMatchObject({ ok: true });
    expect(proxy.seen[0]?.headers['proxy-authorization']).toMatch(/^Basic /);
    expect(server.seen[0]?.headers).not.toHaveProperty('proxy-authorization');
  });

  test('bypasses it where NO_PROXY says so', async () => {
    const server = await answering();
    const proxy = await startProxy();
    expect(await through(proxy.url, server.url, '127.0.0.1').send(restore)).toMatchObject({ ok: true });
    expect(proxy.seen).toEqual([]);
  });

  test('fails as usual once the tunnel is open', async () => {
    const proxy = await startProxy();
    const url = await socketServer((socket) => socket.resetAndDestroy());
    expect(await through(proxy.url, url).send(restore)).toMatchObject({
      requests: 1,
      failure: { class: 'retry', code: 'CONNECTION_LOST', unclear: true },
    });
  });

  test('fails for an untrusted certificate behind the proxy', async () => {
    const proxy = await startProxy();
    const server = createTlsServer(selfSigned, (_, response) => response.end('{}'));
    const url = (await listen(server)).replace('http:', 'https:');
    expect(await through(proxy.url, url).send(restore)).toMatchObject({
      requests: 0,
      failure: {
        class: 'unreachable',
        code: 'TLS_ERROR',
        message: expect.stringContaining(`through the proxy ${proxy.url} (http_proxy)`),
      },
    });
  });
});

describe('trouble of the proxy is reported as such, and nothing was sent:', () => {
  const secret = 'http://user:secret@';
  const classes = {
    PROXY_UNREACHABLE: 'unreachable',
    PROXY_BAD_GATEWAY: 'unreachable',
    PROXY_REFUSED: 'halt',
    PROXY_AUTHENTICATION: 'halt',
  };
  const talking = (talk: (socket: Socket) => void) => () => socketServer(talk);
  const proxyWith = (options: Parameters<typeof startProxy>[0]) => async () =>
    (await startProxy(options)).url;

  test.each<[string, () => Promise<string>, keyof typeof classes, string]>([
    ['nothing listens', deadUrl, 'PROXY_UNREACHABLE', 'ECONNREFUSED'],
    [
      'its name is unknown',
      async () => 'http://proxy.invalid:3128',
      'PROXY_UNREACHABLE',
      'No connection to the proxy http://proxy.invalid:3128 (http_proxy)',
    ],
    ['it hangs up', talking((socket) => socket.end()), 'PROXY_UNREACHABLE', 'UND_ERR_SOCKET'],
    ['it resets', talking((socket) => socket.resetAndDestroy()), 'PROXY_UNREACHABLE', 'ECONNRESET'],
    [
      'it does not speak HTTP',
      talking((socket) => socket.end('SSH\r\n')),
      'PROXY_UNREACHABLE',
      'HTTPParserError',
    ],
    ['it never answers', talking(() => {}), 'PROXY_UNREACHABLE', 'UND_ERR_HEADERS_TIMEOUT'],
    ['it cannot connect', proxyWith({ refuse: 502 }), 'PROXY_BAD_GATEWAY', '(502)'],
    ['it forbids', proxyWith({ refuse: 403 }), 'PROXY_REFUSED', '(403)'],
    ['it does not support CONNECT', proxyWith({ refuse: 405 }), 'PROXY_REFUSED', '(405)'],
    [
      'it requires another password',
      proxyWith({ user: 'user', password: 'x' }),
      'PROXY_AUTHENTICATION',
      'refuses the user name and password of http_proxy (407)',
    ],
  ])('%s', async (_title, start, code, said) => {
    const server = await answering();
    const url = await start();
    const answer = await through(url.replace('http://', secret), server.url).send(restore);
    expect(answer).toMatchObject({
      ok: false,
      requests: 0,
      failure: { class: classes[code], code, unclear: false, message: expect.stringContaining(said) },
    });
    expect(JSON.stringify(answer)).toContain(url);
    expect(JSON.stringify(answer)).not.toMatch(/secret|c2VjcmV0/);
    expect(server.seen).toEqual([]);
  });

  test('it requires a password, and none was given', async () => {
    const proxy = await startProxy({ user: 'user', password: 'x' });
    expect(await through(proxy.url, 'http://127.0.0.1:9').send(restore)).toMatchObject({
      requests: 0,
      failure: {
        code: 'PROXY_AUTHENTICATION',
        message: expect.stringContaining('requires a user name and password (407)'),
      },
    });
  });

  test('its own certificate is not trusted', async () => {
    const { url } = await startProxy({ https: selfSigned });
    expect(
      await through(url.replace('127.0.0.1', 'localhost'), 'http://127.0.0.1:9').send(restore),
    ).toMatchObject({
      requests: 0,
      failure: { code: 'PROXY_UNREACHABLE', message: expect.stringContaining('NODE_EXTRA_CA_CERTS') },
    });
  });

  test('it is not called repeatedly while a call waits', async () => {
    let connections = 0;
    const url = await socketServer((socket) => {
      connections++;
      socket.end();
    });
    await through(url, 'http://127.0.0.1:9').send(restore);
    // The call is repeated twice, because nothing was sent.
    expect(connections).toBe(3);
  });
});
