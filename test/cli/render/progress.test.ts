import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { steadyNow } from '../../../src/base/async/clock.ts';
import * as render from '../../../src/cli/render/progress.ts';
import { plain } from '../../../src/cli/render/style.ts';
import type { Pace } from '../../../src/domain/pace.ts';
import type { ProgressSnapshot } from '../../../src/engine/run/session/progress.ts';
import { plannedRecord } from '../../engine/run/planned-record.ts';

const { logLine } = render;
const progressLine = (snapshot: ProgressSnapshot) => plain(render.progressLine(snapshot));

const snapshot: ProgressSnapshot = {
  rows: 12_000,
  done: 4_512,
  counts: { succeeded: 4_480, failed: 32, invalid: 0, duplicate: 0, skipped: 0, not_attempted: 0 },
  rowsPerSecond: 640,
  waitMs: 0,
  retrying: 0,
  paused: false,
  etaSeconds: 11.7,
  elapsedSeconds: 7,
};

const pace: Pace = {
  rate: 50,
  isKept: true,
  concurrency: 20,
  phase: 'holding',
  refuses503: false,
  reason: '',
};

const monthly = {
  ...plannedRecord,
  id: 'monthly',
  options: { ...plannedRecord.options, baseUrl: 'https://api.example.com', rateGroup: 'acme' },
};

describe('the progress line', () => {
  test('shows the done rows, their outcomes, the rate and the time left', () => {
    expect(progressLine(snapshot)).toBe('4,512/12,000 (38 %)  4,480 succeeded, 32 failed  640/s  12 s left');
  });

  test('shows why the run waits, and the retrying rows, but no allowed rate and no time left', () => {
    const waiting = { ...pace, reason: 'the API asks to wait' };
    expect(progressLine({ ...snapshot, pace: waiting, waitMs: 11_500, retrying: 3 })).toBe(
      '4,512/12,000 (38 %)  4,480 succeeded, 32 failed  640/s  3 retrying  waiting 12 s (the API asks to wait)',
    );
  });

  test.each([
    ['its reason', { reason: 'looking for the API limit' }, 'looking for the API limit'],
    ['the limit', { limit: 52.4, phase: 'fixed' }, 'limit 52/s'],
    ['both', { limit: 9.87, reason: 'just under the limit' }, 'limit 9.9/s, just under the limit'],
  ] as const)('shows with the allowed rate %s', (_title, known, text) => {
    expect(progressLine({ ...snapshot, pace: { ...pace, ...known } })).toContain(
      `640/s of 50/s (${text})  12 s left`,
    );
  });

  test('comes with what asks for a long wait, and the command that ends it', () => {
    const waiting = { ...pace, restUntil: steadyNow() + 7_200_000, restBy: 'Retry-After: 7200' };
    expect(render.progressLines({ ...snapshot, pace: waiting, waitMs: 7_200_000 }, monthly)).toEqual([
      expect.stringContaining('waiting 2 h'),
      '"Retry-After: 7200" asks for this wait; to call sooner, type: cqbatch set-rate monthly 5/s (or resume it with --rate 5/s)',
    ]);
    expect(render.progressLines({ ...snapshot, pace }, monthly)).toHaveLength(1);
  });

  test('comes with the command that starts a worker when none serves the run', () => {
    const unserved = { ...snapshot, workers: 0 };
    expect(render.progressLines(unserved, monthly)).toEqual([
      expect.stringContaining('waiting for a worker'),
      'waiting for a worker: none serves https://api.example.com (rate group acme); start one: cqbatch worker --base-url https://api.example.com --rate-group acme',
    ]);
    expect(render.progressLines({ ...unserved, done: unserved.rows }, monthly)).toHaveLength(1);
  });

  test('gives the reason of a wait also at a rate that the user has set', () => {
    const rest = { restUntil: steadyNow() + 9_000, reason: 'the API asks to wait' };
    const fixed = { ...pace, phase: 'fixed' as const };
    expect(progressLine({ ...snapshot, pace: { ...fixed, ...rest }, waitMs: 9_000 })).toContain(
      'waiting 9 s (the API asks to wait)',
    );
    expect(progressLine({ ...snapshot, pace: { ...fixed, reason: 'as requested' } })).toContain(
      '640/s of 50/s  ',
    );
  });

  describe('while the API asks to wait', () => {
    beforeEach(() => {
      vi.useFakeTimers({ now: new Date(2026, 0, 1, 14, 0) });
    });
    afterEach(() => {
      vi.useRealTimers();
    });

    test.each([
      ['some seconds', 500, 'waiting 1 s'],
      ['some minutes', 599_000, 'waiting 9 min 59 s'],
      ['longer, and shows the end', 600_000, 'waiting 10 min, until 14:10'],
      ['hours', 2 * 3_600_000, 'waiting 2 h, until 16:00'],
      ['until another day', 12 * 3_600_000, 'waiting 12 h, until 2 Jan 02:00'],
    ])('waits %s', (_title, waitMs, text) => {
      expect(progressLine({ ...snapshot, waitMs })).toContain(text);
    });
  });

  test.each([
    [{ calls: 1, oldestMs: 35_400, timeoutMs: 60_000 }, '0/s  1 call in flight for 35 s (timeout 60 s)'],
    [
      { calls: 12, oldestMs: 90_000, timeoutMs: 120_000 },
      '0/s  12 calls in flight, the oldest for 1 min 30 s (timeout 120 s)',
    ],
  ])('shows stalled calls: %o', (stalled, text) => {
    const { etaSeconds: _, ...rest } = snapshot;
    expect(progressLine({ ...rest, rowsPerSecond: 0, stalled })).toBe(
      `4,512/12,000 (38 %)  4,480 succeeded, 32 failed  ${text}`,
    );
  });

  test('shows no time left at the end', () => {
    expect(progressLine({ ...snapshot, done: 12_000 })).not.toContain('left');
  });
});

const said = (entry: Omit<render.ProgramLogEntry, 'time'>) =>
  logLine({ time: 0, ...entry })?.replace(/^\d\d:\d\d:\d\d {2}/, '');

describe('--verbose', () => {
  test.each<[Omit<render.ProgramLogEntry, 'time'>, string | undefined]>([
    [
      { msg: 'pace', rate_per_s: 51, limit_per_s: 50, concurrency: 20, reason: 'just under the limit' },
      'rate: up to 51/s, API limit 50/s, at most 20 in flight (just under the limit)',
    ],
    [
      { msg: 'pace', rate_per_s: 51, concurrency: 20, wait_ms: 90_000, reason: 'the API asks to wait' },
      'rate: no calls for 1 min 30 s, at most 20 in flight (the API asks to wait)',
    ],
    [
      {
        msg: 'pace',
        concurrency: 20,
        wait_ms: 7_200_000,
        wait_by: 'Retry-After: 7200',
        reason: 'the API asks to wait',
      },
      'rate: no calls for 2 h, at most 20 in flight (the API asks to wait, "Retry-After: 7200"; a rate that you set with --rate ends the wait)',
    ],
    [
      { msg: 'pace', concurrency: 8, reason: 'no limit requested' },
      'rate: unlimited, at most 8 in flight (no limit requested)',
    ],
    [
      { msg: 'row waits', row: 7, code: 'HTTP_500', attempts: 2, delay_ms: 1_540 },
      'row 7: HTTP_500, attempt 2; next attempt in 1.5 s',
    ],
    [
      { msg: 'the API asks to slow down', row: 7, wait_ms: 12_000 },
      'row 7: the API asks to slow down, for 12 s; the row will be retried and keeps its attempts',
    ],
    [
      { msg: 'row spared', row: 7, code: 'UNAVAILABLE' },
      'row 7: UNAVAILABLE, probably an API outage; the row will be retried and keeps its attempts',
    ],
    [
      { msg: 'waiting time ignored', header: 'Retry-After', value: '1e20' },
      'the API states the waiting time "Retry-After: 1e20", which is not between 0 and 24 hours: it is ignored',
    ],
    [{ msg: 'row finished', row: 7, code: 'OK' }, undefined],
  ])('prints %j', (entry, text) => {
    expect(said(entry)).toBe(text);
  });
});
