import { expect, test } from 'vitest';
import { haltReason, refusalReason } from '../../../src/engine/worker/halt-reason.ts';
import { failing, tooMany } from './answers.ts';

test.each([
  ['PROXY_UNREACHABLE', 'Correct the proxy in that variable, or list the host of the API in NO_PROXY'],
  ['PROXY_AUTHENTICATION', 'as in http://user:password@proxy:3128'],
  ['PROXY_REFUSED', 'Ask the administrator of the proxy, or list the host of the API in NO_PROXY'],
  ['PROXY_BAD_GATEWAY', 'check that the service is up and the proxy may reach it'],
] as const)('what to do about %s is told', (code, remedy) => {
  const { failure } = failing({ class: 'halt', code, message: 'The proxy http://p:1 (HTTPS_PROXY) fails' });
  const { message, kind } = refusalReason('https://api.example.com', '/path', failure);
  expect(kind).toBe('fatal');
  expect(message).toContain(
    'Asked: https://api.example.com/path. Came back: The proxy http://p:1 (HTTPS_PROXY) fails',
  );
  expect(message).toContain(remedy);
});

test('an API that refuses every call is not away, and its base URL is not in doubt', () => {
  const { failure } = tooMany();
  const halt = { because: 'refusals', calls: 900, lastedMs: 901_000, path: '/path', failure } as const;
  expect(haltReason('https://api.example.com', halt).message).toBe(
    'The API has refused every call for 15 min, longer than --max-outage allows. Asked: https://api.example.com/path. ' +
      'Came back: why (HTTP 429, RESOURCE_EXHAUSTED). ' +
      'Continue when the limit of the API allows calls again. If the last rows alone are refused, correct them.',
  );
});

test('no call is reported for a host that was never reached', () => {
  const { failure } = failing({ class: 'unreachable', code: 'CONNECTION_REFUSED' });
  const halt = { because: 'unproven', calls: 3, lastedMs: 10, path: '/path', failure } as const;
  expect(haltReason('https://api.example.com', halt).message).toMatch(
    /^No call has succeeded after 3 tries\. /,
  );
});

test.each([
  ['UNIMPLEMENTED', 'halt-early', ' and its path prefix: nothing there takes this call.'],
  ['NOT_FOUND', 'halt-early', ' and its path prefix: a 404 without JSON most likely comes from a router.'],
  ['NOT_FOUND', 'permanent', ' and its path prefix, unless the service really has none of the entries'],
] as const)('a wrong path (%s, %s) is named with what to check', (code, failureClass, remedy) => {
  const { failure } = failing({ class: failureClass, code, message: 'Not Found', status: 404 });
  const { message } = refusalReason('https://api.example.com/prefix', '/path', failure);
  expect(message).toContain('Asked: https://api.example.com/prefix/path. Came back: Not Found (HTTP 404, ');
  expect(message).toContain(`CQBATCH_BASE_URL)${remedy}`);
});
