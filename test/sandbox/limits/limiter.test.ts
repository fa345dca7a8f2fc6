import { expect, test } from 'vitest';
import { ratePolicy, windowPolicy } from '../../../src/sandbox/limits/limiter.ts';

test.each([
  [50, 50, 1],
  [0.5, 1, 2],
  [2.5, 5, 2],
  [0.001, 1, 1000],
  [33.333333, 33_333_333, 1_000_000],
  [999_999_999, 999_999_999, 1],
])('a rate of %d is %d per %d seconds', (rate, quota, window) => {
  expect(ratePolicy(rate, 10.5)).toEqual({ quota, window, capacity: 10, unit: 'requests' });
});

test.each([
  [100, 60_000, 100, 60],
  [50, 500, 100, 1],
  [50, 1500, 100, 3],
  [1, 333, 1000, 333],
])('%d per %d ms is %d per %d seconds', (limit, length, quota, window) => {
  expect(windowPolicy(limit, length)).toEqual({ quota, window, capacity: limit, unit: 'requests' });
});
