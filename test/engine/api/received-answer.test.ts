import { expect, test } from 'vitest';
import { receivedAnswer } from '../../../src/engine/api/answer.ts';
import { createTokenMask } from '../../../src/engine/api/token/token-mask.ts';

const token = 's3cr3t/t"ken';
const mask = createTokenMask(token);
const escaped = [...token].map((letter) => `\\u00${letter.charCodeAt(0).toString(16)}`).join('');

test('keeps the relevant headers, and none that grants access', () => {
  const headers = {
    'content-type': 'application/json',
    'set-cookie': 'session=1',
    authorization: 'Bearer x',
    'x-ratelimit-remaining': ['1', '2'],
    'x-request-id': 'r-1',
    'x-session-key': 'k',
  };
  expect(receivedAnswer({ status: 200, headers, body: '{}' }, mask)).toEqual({
    status: 200,
    headers: { 'content-type': 'application/json', 'x-ratelimit-remaining': '1, 2', 'x-request-id': 'r-1' },
    body: '{}',
  });
});

test.each([token, JSON.stringify(token), encodeURIComponent(token), escaped])(
  'replaces a token that is spelled %s',
  (spelled) => {
    const { headers, body } = receivedAnswer(
      {
        status: 401,
        headers: { 'www-authenticate': `Bearer ${spelled}` },
        body: `{"message":"no ${spelled}"}`,
      },
      mask,
    );
    expect(body).toContain('no ');
    expect(body).toContain('[token]');
    expect(headers['www-authenticate']).toContain('[token]');
  },
);

test('shortens a long body after replacing the token in it', () => {
  const body = `${'x'.repeat(16_380)}${token}`;
  const kept = receivedAnswer({ status: 200, headers: {}, body }, mask);
  expect(kept).toMatchObject({ cut: true, body: `${'x'.repeat(16_380)}[tok` });
});
