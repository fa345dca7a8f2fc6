import { expect, test } from 'vitest';
import { parseLimitPlan } from '../../../src/sandbox/limits/plan.ts';

test.each([
  ['none', { kind: 'none' }],
  ['token-bucket:rate=50,burst=10', { kind: 'token-bucket', rate: 50, burst: 10, per: 'all' }],
  ['token-bucket:burst=10,rate=0.5', { kind: 'token-bucket', rate: 0.5, burst: 10, per: 'all' }],
  ['token-bucket:rate=5,per=token', { kind: 'token-bucket', rate: 5, per: 'token' }],
  ['leaky-bucket:rate=50,queue=0', { kind: 'leaky-bucket', rate: 50, queue: 0, per: 'all' }],
  [
    'fixed-window:limit=600,window=1m',
    { kind: 'fixed-window', limit: 600, window: 60_000, align: 'clock', per: 'all' },
  ],
  [
    'fixed-window:limit=1,window=24h,align=first,per=token',
    { kind: 'fixed-window', limit: 1, window: 86_400_000, align: 'first', per: 'token' },
  ],
  ['sliding-window:limit=50,window=1.5 s', { kind: 'sliding-window', limit: 50, window: 1500, per: 'all' }],
  [
    'fixed-window:limit=1,window=30',
    { kind: 'fixed-window', limit: 1, window: 30_000, align: 'clock', per: 'all' },
  ],
  ['concurrency:limit=10,per=all', { kind: 'concurrency', limit: 10, per: 'all' }],
  ['daily-quota:limit=1000', { kind: 'daily-quota', limit: 1000, per: 'all' }],
])('%s', (text, settings) => {
  expect(parseLimitPlan('--limit', text)).toEqual({ first: settings, changes: [] });
});

test.each([
  [
    '',
    'there is no limit ""; known limits: none, token-bucket, leaky-bucket, fixed-window, sliding-window, concurrency, daily-quota',
  ],
  ['bucket:rate=1', 'there is no limit "bucket"'],
  ['toString', 'there is no limit "toString"'],
  ['token-bucket', 'rate must be given as a number, 0.001 or more'],
  ['token-bucket:', 'is not of the form name=value'],
  ['token-bucket:rate=0', 'rate must be given as a number'],
  ['token-bucket:rate=-1', 'rate must be given as a number'],
  ['token-bucket:rate=1e9', 'rate must be given as a number'],
  ['token-bucket:rate=50/s', 'rate must be given as a number'],
  ['token-bucket:rate=1,burst=0.5', 'burst must be given as a number, 1 or more'],
  ['token-bucket:rate=1,window=5', 'token-bucket has no parameter window; it has rate, burst, per'],
  ['token-bucket:rate=1,per=user', 'per: "user" is none of all, token'],
  ['leaky-bucket:rate=1', 'queue must be given as a whole number, 0 or more'],
  ['leaky-bucket:rate=1,queue=1.5', 'queue must be given as a whole number'],
  ['fixed-window:window=1m', 'limit must be given as a whole number, 1 or more'],
  ['fixed-window:limit=0,window=1m', 'limit must be given as a whole number, 1 or more'],
  ['fixed-window:limit=1', 'window must be given as a duration of whole milliseconds, such as'],
  ['fixed-window:limit=1,window=1d', '--limit: window: "1d" is no duration; write it as'],
  ['fixed-window:limit=1,window=0s', 'window must be given as a duration of whole milliseconds'],
  ['fixed-window:limit=1,window=0.5ms', 'window must be given as a duration of whole milliseconds'],
  ['fixed-window:limit=1,window=1m,align=day', 'align: "day" is none of clock, first'],
  ['sliding-window:limit=1,window=1s,align=first', 'sliding-window has no parameter align'],
  ['concurrency', 'limit must be given as a whole number, 1 or more'],
  ['daily-quota:limit=1,window=1h', 'daily-quota has no parameter window; it has limit, per'],
  ['none:rate=1', 'none has no parameter rate; it has none'],
])('%j is refused: %s', (text, message) => {
  expect(() => parseLimitPlan('--limit', text)).toThrow(message);
});

const none = { kind: 'none' };
const bucket = (rate: number) => ({ kind: 'token-bucket', rate, per: 'all' });

test.each([
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
