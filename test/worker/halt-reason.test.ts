import { expect, test } from 'vitest';
import { haltReason, refusalReason } from '../../src/worker/halt-reason.ts';

test.each([
  ['PROXY_UNREACHABLE', 'Correct the proxy in that variable, or list the host of the API in NO_PROXY'],
  ['PROXY_AUTHENTICATION', 'as in http://user:password@proxy:3128'],
  ['PROXY_REFUSED', 'Ask the administrator of the proxy, or list the host of the API in NO_PROXY'],
  ['PROXY_BAD_GATEWAY', 'check that the service is up and the proxy may reach it'],
] as const)('what to do about %s is told', (code, remedy) => {
  const failure = {
    class: 'halt',
    code,
    message: 'The proxy http://p:1 (HTTPS_PROXY) fails',
    unclear: false,
  } as const;
  const { message, kind } = refusalReason('https://api.example.com', '/path', failure);
  expect(kind).toBe('fatal');
  expect(message).toContain(
    'Asked: https://api.example.com/path. Came back: The proxy http://p:1 (HTTPS_PROXY) fails',
  );
  expect(message).toContain(remedy);
});

test('no call is reported for a host that was never reached', () => {
  const failure = {
    class: 'unreachable',
    code: 'CONNECTION_REFUSED',
    message: 'The server refuses connections',
    unclear: false,
  } as const;
  const halt = { because: 'unproven', calls: 3, lastedMs: 10, path: '/path', failure } as const;
  expect(haltReason('https://api.example.com', halt).message).toMatch(
    /^No call has succeeded after 3 tries\. /,
  );
});
