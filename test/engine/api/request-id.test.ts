import { expect, test } from 'vitest';
import { requestIdOf } from '../../../src/engine/api/answer.ts';
import { createTokenMask } from '../../../src/engine/api/token/token-mask.ts';

const mask = createTokenMask('my-secret');
const info = (fields: object) => ({
  details: [{ '@type': 'type.googleapis.com/google.rpc.RequestInfo', ...fields }],
});

test.each([
  ['nothing', {}, 200, {}, undefined],
  ['X-Request-Id', { 'x-request-id': 'r-1' }, 200, {}, 'r-1'],
  ['a RequestInfo', {}, 500, info({ requestId: 'r-1' }), 'r-1'],
  ['the token', { 'x-request-id': 'a-my-secret' }, 200, {}, 'a-[token]'],
  ['control characters', { 'x-request-id': 'r\u001b[2J' }, 200, {}, undefined],
  ['a text that is too long', { 'x-request-id': 'r'.repeat(201) }, 200, {}, undefined],
])('an answer with %s names its request', (_title, headers, status, body, expected) => {
  expect(requestIdOf({ status, headers, body: JSON.stringify(body) }, mask)).toBe(expected);
});
