import { expect, test } from 'vitest';
import { parseLimitPlan } from '../../../src/sandbox/options/limit-plan.ts';

const none = { kind: 'none' };
const bucket = (rate: number) => ({ kind: 'token-bucket', rate, burst: rate, per: 'all' });

test.each([
  ['none', { first: none, changes: [] }],
  ['token-bucket:rate=5', { first: bucket(5), changes: [] }],
  ['none then 1.5s token-bucket:rate=5', { first: none, changes: [{ after: 1500, limit: bucket(5) }] }],
  ['none then 30 none', { first: none, changes: [{ after: 30_000, limit: none }] }],
  ['none then 2 m none', { first: none, changes: [{ after: 120_000, limit: none }] }],
  [
    ' token-bucket:rate=5 then  30s token-bucket:rate=1\nthen 1m none ',
    {
      first: bucket(5),
      changes: [
        { after: 30_000, limit: bucket(1) },
        { after: 60_000, limit: none },
      ],
    },
  ],
])('%j', (text, plan) => {
  expect(parseLimitPlan('--limit', text)).toEqual(plan);
});

const remedy = '--limit: write a duration and a limit after "then", such as then 30s token-bucket:rate=10';

test.each([
  ['none then', remedy],
  ['none then 30s', remedy],
  ['none then token-bucket:rate=1', remedy],
  ['none then soon none', '--limit: then: "soon" is no duration; write it as'],
  ['none then 30s bucket', '--limit: there is no limit "bucket"'],
  ['none then 30s none then', remedy],
  ['then 30s none', '--limit: there is no limit "then 30s none"'],
])('%j is refused: %s', (text, message) => {
  expect(() => parseLimitPlan('--limit', text)).toThrow(message);
});
