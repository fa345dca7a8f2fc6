import { expect, test } from 'vitest';
import { haltReason, refusalReason } from '../../../../src/engine/worker/breaker/halt-reason.ts';
import { failing, tooMany } from '../answers.ts';

test.each([
  ['PROXY_UNREACHABLE', 'Correct the proxy in that variable, or list the host of the API in NO_PROXY'],
  ['PROXY_AUTHENTICATION', 'as in http://user:password@proxy:3128'],
  ['PROXY_REFUSED', 'Ask the administrator of the proxy, or list the host of the API in NO_PROXY'],
  ['PROXY_BAD_GATEWAY', 'that the API is up, and that the proxy may reach it'],
] as const)('what to do about %s is told', (code, remedy) => {
  const { failure } = failing({ class: 'halt', code, message: 'The proxy http://p:1 (HTTPS_PROXY) fails' });
  const { message, kind } = refusalReason('https://api.example.com', '/path', failure);
  expect(kind).toBe('fatal');
  expect(message).toContain('https://api.example.com/path: The proxy http://p:1 (HTTPS_PROXY) fails');
  expect(message).toContain(remedy);
});

test('an API that refuses every call is not away, and its base URL is not in doubt', () => {
  const { failure } = tooMany();
  const halt = { because: 'refusals', calls: 900, lastedMs: 90_000, path: '/path', failure } as const;
  expect(haltReason('https://api.example.com', halt).message).toBe(
    'The API has refused every call for 1 min 30 s, longer than --max-outage allows: https://api.example.com/path: why ' +
      '(HTTP 429, RESOURCE_EXHAUSTED). ' +
      'Continue when the limit of the API allows calls again. If the last rows alone are refused, correct them.',
  );
});

test('the address of a host that was never reached is told, and the number of tries', () => {
  const { failure } = failing({ class: 'unreachable', code: 'CONNECTION_REFUSED' });
  const halt = { because: 'unproven', calls: 3, lastedMs: 10, path: '/path', failure } as const;
  expect(haltReason('https://api.example.com', halt).message).toMatch(
    /^https:\/\/api\.example\.com refuses connections \(3 tries\)\. Check host and port/,
  );
});

test('a rejected token is told with what the API says, and where the token comes from', () => {
  const { failure } = failing({
    class: 'halt',
    code: 'UNAUTHENTICATED',
    message: 'The API rejected the token: no',
    status: 401,
  });
  expect(refusalReason('https://api.example.com', '/path', failure).message).toBe(
    'The API rejected the token: no (HTTP 401). Check CQBATCH_TOKEN, --token-file or --token-command.',
  );
});

test.each([
  ['UNIMPLEMENTED', 'halt-early', ' and its path prefix: nothing there takes this call.'],
  ['NOT_FOUND', 'halt-early', ' and its path prefix: a 404 without JSON most likely comes from a router.'],
  ['NOT_FOUND', 'permanent', ' and its path prefix, unless the API really has none of the entries'],
] as const)('a wrong path (%s, %s) is named with what to check', (code, failureClass, remedy) => {
  const { failure } = failing({ class: failureClass, code, message: 'Not Found', status: 404 });
  const { message } = refusalReason('https://api.example.com/prefix', '/path', failure);
  expect(message).toContain('https://api.example.com/prefix/path: Not Found (HTTP 404, ');
  expect(message).toContain(`CQBATCH_BASE_URL)${remedy}`);
});
