import { expect, test } from 'vitest';
import { parseLimit } from '../../../src/sandbox/options/limit.ts';

test.each([
  ['none', { kind: 'none' }],
  ['token-bucket:rate=50,burst=10', { kind: 'token-bucket', rate: 50, burst: 10 }],
  ['token-bucket:burst=10,rate=0.5', { kind: 'token-bucket', rate: 0.5, burst: 10 }],
  ['token-bucket:rate=50', { kind: 'token-bucket', rate: 50, burst: 50 }],
  ['token-bucket:rate=0.5', { kind: 'token-bucket', rate: 0.5, burst: 1 }],
])('%s', (text, settings) => {
  expect(parseLimit('--limit', text)).toEqual(settings);
});

test.each([
  ['', 'there is no limit ""; known limits: none, token-bucket'],
  ['bucket:rate=1', 'there is no limit "bucket"'],
  ['toString', 'there is no limit "toString"'],
  ['token-bucket', 'rate must be given as a number, 0.001 or more'],
  ['token-bucket:', 'is not of the form name=value'],
  ['token-bucket:rate=0', 'rate must be given as a number'],
  ['token-bucket:rate=-1', 'rate must be given as a number'],
  ['token-bucket:rate=1e9', 'rate must be given as a number'],
  ['token-bucket:rate=50/s', 'rate must be given as a number'],
  ['token-bucket:rate=1,burst=0.5', 'burst must be given as a number, 1 or more'],
  ['token-bucket:rate=1,window=5', 'token-bucket has no parameter window'],
  ['none:rate=1', 'none has no parameter rate'],
])('%j is refused: %s', (text, message) => {
  expect(() => parseLimit('--limit', text)).toThrow(message);
});
