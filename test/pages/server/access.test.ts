import type { IncomingHttpHeaders } from 'node:http';
import { describe, expect, test } from 'vitest';
import { ControlAccess, isFromHere } from '../../../src/pages/server/access.ts';

const from = (headers: IncomingHttpHeaders, host = '127.0.0.1', publicUrl?: string) =>
  isFromHere(headers, { host, publicUrl: publicUrl === undefined ? undefined : new URL(publicUrl) });

describe('a request', () => {
  test.each(['127.0.0.1:8788', 'localhost:9000', '[::1]:8788', '10.0.0.7:8788', 'LOCALHOST'])(
    'for %s is for us',
    (host) => expect(from({ host })).toBe(true),
  );

  const foreign = ['evil.example', 'evil.example:8788', '127.0.0.1.evil.example', 'localhost.evil:1'];

  test.each([...foreign, '', 'a b', '[::1'])(
    'for "%s" is refused: the name may be made to lead here',
    (host) => expect(from({ host })).toBe(false),
  );

  test('for the name in --host is accepted', () => {
    expect(from({ host: 'build.example:8788' }, 'Build.example')).toBe(true);
  });

  test('of a page of another origin is refused', () => {
    const host = '127.0.0.1:8788';
    for (const scheme of ['http', 'https']) expect(from({ host, origin: `${scheme}://${host}` })).toBe(true);
    for (const origin of ['http://127.0.0.1:8789', 'https://127.0.0.1:8789', 'http://localhost:8788', 'null'])
      expect(from({ host, origin }), origin).toBe(false);
  });

  describe('behind a proxy', () => {
    const publicUrl = 'https://build.example/cqbatch/';
    const origin = 'https://build.example';

    test('that passes the host on is accepted', () => {
      expect(from({ host: 'build.example', origin })).toBe(false);
      expect(from({ host: 'build.example', origin }, '127.0.0.1', publicUrl)).toBe(true);
      expect(from({ host: 'build.example' }, '127.0.0.1', publicUrl)).toBe(true);
    });

    test('that does not pass the host on is accepted', () => {
      expect(from({ host: '127.0.0.1:8788', origin })).toBe(false);
      expect(from({ host: '127.0.0.1:8788', origin }, '127.0.0.1', publicUrl)).toBe(true);
    });

    test.each([
      [
        'of a page without TLS, as which anyone in the network can pose',
        'build.example',
        'http://build.example',
      ],
      ['of another site at the same proxy', 'build.example', 'https://wiki.example'],
      ['of another port of the same host', 'build.example', 'https://build.example:8443'],
      ['for another name', 'evil.example', undefined],
      ['for another name, from our origin', 'evil.example', origin],
    ])('%s is refused', (_title, host, from_) => {
      const headers = { host, ...(from_ !== undefined && { origin: from_ }) };
      const hostile = {
        'x-forwarded-proto': 'https',
        'x-forwarded-host': host,
        forwarded: `host=${host};proto=https`,
      };
      expect(from({ ...headers, ...hostile }, '127.0.0.1', publicUrl)).toBe(false);
    });
  });

  test.each([
    ['cross-site', 'no-cors', 'image', false],
    ['same-site', 'cors', 'empty', false],
    ['cross-site', 'navigate', 'iframe', false],
    ['cross-site', 'navigate', 'document', true],
  ])('of a %s page, by %s for %s, is accepted: %s', (site, mode, destination, accepted) => {
    const fetched = { 'sec-fetch-site': site, 'sec-fetch-mode': mode, 'sec-fetch-dest': destination };
    expect(from({ host: '127.0.0.1:8788', ...fetched })).toBe(accepted);
  });
});

test('the session behind a proxy is only for the path of the dashboard, and for TLS', () => {
  const access = new ControlAccess(new URL('https://build.example/cqbatch/'));
  const cookie = access.exchange(access.token, { host: 'build.example' });
  expect(cookie).toMatch(/^cqbatch-80=[\w-]{32}; HttpOnly; SameSite=Strict; Path=\/cqbatch\/; Secure$/);
});

describe('the token', () => {
  test("can be exchanged once, for a session that scripts and other sites can't use", () => {
    const access = new ControlAccess();
    const host = 'localhost:8788';
    for (const wrong of [undefined, '', 'x', [access.token]])
      expect(access.exchange(wrong, { host })).toBeUndefined();
    const cookie = access.exchange(access.token, { host }) ?? '';
    expect(cookie).toMatch(/^cqbatch-8788=[\w-]{32}; HttpOnly; SameSite=Strict; Path=\/$/);
    expect(cookie).not.toContain(access.token);
    expect(access.exchange(access.token, { host })).toBeUndefined();
    const [pair = ''] = cookie.split(';');
    const held = (cookie: string) => access.hasSession({ host, cookie });
    expect(held(`other=1; ${pair}`)).toBe(true);
    for (const text of ['', 'cqbatch-8788=', `x${pair}`, `${pair}x`, `cqbatch-8788=${access.token}`])
      expect(held(text), text).toBe(false);
    expect(new ControlAccess().hasSession({ host, cookie: pair })).toBe(false);
    // The browser sends the cookie to all ports, perhaps to another dashboard.
    expect(access.hasSession({ host: 'localhost:9000', cookie: pair })).toBe(false);
  });
});
