import { expect, test } from 'vitest';
import { refusalReason } from '../../src/worker/halt-reason.ts';

test.each([
  ['PROXY_UNREACHABLE', 'Correct the proxy in that variable, or list the host of the API in NO_PROXY'],
  ['PROXY_AUTHENTICATION', 'as in http://user:password@proxy:3128'],
  ['PROXY_REFUSED', 'Ask who runs the proxy, or list the host of the API in NO_PROXY'],
  ['PROXY_BAD_GATEWAY', 'see whether the service is up and the proxy may reach it'],
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
    'Asked: POST https://api.example.com/path. Came back: The proxy http://p:1 (HTTPS_PROXY) fails',
  );
  expect(message).toContain(remedy);
});
