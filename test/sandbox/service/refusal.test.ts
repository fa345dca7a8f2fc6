import { expect, test } from 'vitest';
import { errorBody, refuse } from '../../../src/sandbox/service/refusal.ts';

const message = 'evaluation <7> was not found';
const notFound = refuse('NOT_FOUND', message);
const throttled = refuse('RESOURCE_EXHAUSTED', 'too many requests', { retryAfter: 0.0123 });
const wait = { '@type': 'type.googleapis.com/google.rpc.RetryInfo', retryDelay: '0.013s' };

test.each([
  ['rpc', { code: 5, message, details: [] }],
  ['rpc-string', { code: 'not_found', message, details: [] }],
  ['google', { error: { code: 404, status: 'NOT_FOUND', message } }],
] as const)('the style %s', (style, body) => {
  const { contentType, text } = errorBody(notFound, style, 'header');
  expect(contentType).toBe('application/json');
  expect(JSON.parse(text)).toEqual(body);
});

test('the style problem is that of RFC 9457', () => {
  const { contentType, text } = errorBody(notFound, 'problem', 'header');
  expect(contentType).toBe('application/problem+json');
  expect(JSON.parse(text)).toEqual({ type: 'about:blank', title: 'Not Found', status: 404, detail: message });
});

test('the style text is the message', () => {
  const { contentType, text } = errorBody(notFound, 'text', 'header');
  expect(contentType).toBe('text/plain; charset=utf-8');
  expect(text).toBe(`${message}\n`);
});

test('the style html is a page with the message escaped', () => {
  const { contentType, text } = errorBody(notFound, 'html', 'header');
  expect(contentType).toBe('text/html; charset=utf-8');
  expect(text).toContain('<h1>404 Not Found</h1><p>evaluation &#60;7&#62; was not found</p>');
});

test.each([
  ['rpc', { code: 8, message: 'too many requests', details: [wait] }],
  ['rpc-string', { code: 'resource_exhausted', message: 'too many requests', details: [wait] }],
  [
    'google',
    { error: { code: 429, status: 'RESOURCE_EXHAUSTED', message: 'too many requests', details: [wait] } },
  ],
] as const)('retry-info in the style %s', (style, body) => {
  expect(JSON.parse(errorBody(throttled, style, 'retry-info').text)).toEqual(body);
});

test.each(['header', 'none'] as const)(
  'with retry-after %s the body says nothing about waiting',
  (retryAfter) => {
    expect(JSON.parse(errorBody(throttled, 'rpc', retryAfter).text)).toMatchObject({ details: [] });
  },
);
