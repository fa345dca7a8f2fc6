import { describe, expect, test } from 'vitest';
import { progressLine } from '../../../src/cli/render/progress.ts';
import type { ProgressSnapshot } from '../../../src/run/progress.ts';

const snapshot: ProgressSnapshot = {
  total: 12_000,
  done: 4_512,
  counts: { succeeded: 4_480, failed: 32, invalid: 0, duplicate: 0, not_attempted: 0 },
  ratePerSecond: 640,
  waitMs: 0,
  retrying: 0,
  paused: false,
  etaSeconds: 11.7,
  elapsedSeconds: 7,
};

describe('the progress line', () => {
  test('says how much is done, how, how fast, and how long it will take', () => {
    expect(progressLine(snapshot)).toBe('4,512/12,000 (37 %)  4,480 succeeded, 32 failed  640/s  12 s left');
  });

  test('says the allowed rate, why nothing goes on, and what is tried again', () => {
    expect(progressLine({ ...snapshot, allowedPerSecond: 50, waitMs: 11_500, retrying: 3 })).toBe(
      '4,512/12,000 (37 %)  4,480 succeeded, 32 failed  640/s of 50/s  3 retrying  API asked to wait 12 s  12 s left',
    );
  });

  test('says nothing of what is left at the end', () => {
    expect(progressLine({ ...snapshot, done: 12_000 })).not.toContain('left');
  });
});
