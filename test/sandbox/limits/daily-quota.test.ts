import { expect, test } from 'vitest';
import { dailyQuota } from '../../../src/sandbox/limits/daily-quota.ts';
import { fates } from './admissions.ts';

test('the quota is whole again at midnight UTC', () => {
  const times = ['2026-01-05T22:00:00Z', '2026-01-05T23:59:59Z', '2026-01-06T00:00:00Z'].map(Date.parse);
  expect(fates(dailyQuota({ kind: 'daily-quota', limit: 1 }), times)).toEqual([
    ['in', 0, 7_200_000, 7_200_000],
    ['out', 0, 1000, 1000],
    ['in', 0, 86_400_000, 86_400_000],
  ]);
});
