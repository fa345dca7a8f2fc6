import { expect, test } from 'vitest';
import { type DeliveryStyle, writeRefusal } from '../../../src/sandbox/service/delivery.ts';
import { refuse } from '../../../src/sandbox/service/refusal.ts';

const style: DeliveryStyle = {
  errorStyle: 'rpc',
  retryAfter: 'header',
  integers: 'number',
  case: 'snake',
  compress: 'none',
  slowBodyDelay: 0,
};

test.each([
  [0.012, '1'],
  [1, '1'],
  [2.2, '3'],
])('a wait of %d s is the header Retry-After: %s', (retryAfter, header) => {
  const { status, headers } = writeRefusal(refuse('RESOURCE_EXHAUSTED', 'wait', { retryAfter }), style);
  expect(status).toBe(429);
  expect(headers['retry-after']).toBe(header);
});

test('without a wait there is no such header', () => {
  expect(writeRefusal(refuse('UNAVAILABLE', 'gone'), style).headers).toEqual({
    'content-type': 'application/json',
  });
});
