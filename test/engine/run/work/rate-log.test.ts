import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { steadyNow } from '../../../../src/base/async/clock.ts';
import type { PaceReport } from '../../../../src/domain/pace.ts';
import { type RateHistory, readRateHistory } from '../../../../src/engine/report/rate-history.ts';
import { RateLog } from '../../../../src/engine/run/work/rate-log.ts';
import { temporaryFolder } from '../../../helpers/temporary-folder.ts';

const pace: PaceReport = {
  rate: 50,
  isKept: true,
  refuses503: false,
  concurrency: 20,
  phase: 'searching',
  reason: 'looking for the API limit',
  accepted: 0,
  rejected: 0,
};

async function historyIn(folder: string): Promise<RateHistory> {
  const history = await readRateHistory(folder);
  if (history === undefined) throw new Error('no history');
  return history;
}

/** A history in which this much was accepted and rejected in each second. */
async function logged(
  folder: string,
  seconds: number,
  { accepted = 0, rejected = 0, ...changes }: Partial<PaceReport> = {},
): Promise<RateLog> {
  const log = await RateLog.open(folder, 'auto');
  log.see({ ...pace, ...changes });
  for (let second = 1; second <= seconds; second += 1) {
    log.see({ ...pace, ...changes, accepted: second * accepted, rejected: second * rejected });
    vi.advanceTimersByTime(1_000);
  }
  return log;
}

/** The history of such seconds, and of what happens then. */
async function historyOf(
  seconds: number,
  changes: Partial<PaceReport>,
  happen: (log: RateLog) => void = () => {},
): Promise<RateHistory> {
  const folder = await temporaryFolder();
  const log = await logged(folder, seconds, changes);
  happen(log);
  await log.close();
  return historyIn(folder);
}

describe('the history of a rate', () => {
  beforeEach(() => {
    vi.useFakeTimers({ now: new Date('2026-01-01T00:00:00Z') });
  });
  afterEach(() => {
    vi.useRealTimers();
  });

  test('has a point for each second', async () => {
    const point = { allowed_per_s: 50, accepted_per_s: 40, rejected: 2 };
    expect(await historyOf(3, { accepted: 40, rejected: 2 })).toEqual({
      version: 1,
      wanted: 'auto',
      allowed_per_s: 50,
      limit_per_s: null,
      concurrency: 20,
      phase: 'searching',
      reason: 'looking for the API limit',
      bound_by: null,
      wait_until: null,
      wait_by: null,
      away: null,
      waited_s: 0,
      rejected: 6,
      seen_at: '2026-01-01T00:00:03.000Z',
      series: [
        { t_s: 1, ...point },
        { t_s: 2, ...point },
        { t_s: 3, ...point },
      ],
      starts: [{ t_s: 0, at: '2026-01-01T00:00:00.000Z' }],
    });
  });

  test('ends with a part of a second, if long enough', async () => {
    const { series } = await historyOf(2, { accepted: 40 }, (log) => {
      log.see({ ...pace, accepted: 100 });
      vi.advanceTimersByTime(500);
    });
    expect(series.map(({ t_s, accepted_per_s }) => [t_s, accepted_per_s])).toEqual([
      [1, 40],
      [2, 40],
      [2.5, 40],
    ]);
  });

  test('counts nothing from before it started, and nothing twice when counts restart', async () => {
    const folder = await temporaryFolder();
    const log = await RateLog.open(folder, 'auto');
    for (const [accepted, rejected] of [
      [1_000, 100],
      [1_010, 101],
      [5, 0],
      [25, 3],
    ] as const) {
      log.see({ ...pace, accepted, rejected });
      vi.advanceTimersByTime(1_000);
    }
    await log.close();
    const { series, rejected } = await historyIn(folder);
    expect(series.map((point) => point.accepted_per_s)).toEqual([0, 10, 0, 20]);
    expect(rejected).toBe(4);
  });

  test('records an unlimited rate, the limit and the end of a wait', async () => {
    const folder = await temporaryFolder();
    const log = await RateLog.open(folder, 'none');
    const { rate: _, ...unlimited } = pace;
    log.see({ ...unlimited, limit: 49.123, restUntil: steadyNow() + 60_000 });
    vi.advanceTimersByTime(1_000);
    await log.close();
    expect(await historyIn(folder)).toMatchObject({
      allowed_per_s: null,
      limit_per_s: 49.12,
      wait_until: '2026-01-01T00:01:00.000Z',
      series: [{ allowed_per_s: null }],
    });
  });

  test('counts the seconds that the API asked to wait, not the pauses between calls', async () => {
    const folder = await temporaryFolder();
    const log = await RateLog.open(folder, 'auto');
    log.see({ ...pace, restUntil: steadyNow() + 5_500 });
    vi.advanceTimersByTime(20_000);
    log.see({ ...pace, restUntil: steadyNow() + 900 });
    vi.advanceTimersByTime(5_000);
    await log.close();
    const { series, ...history } = await historyIn(folder);
    expect(history).toMatchObject({ waited_s: 4, wait_until: null });
    const waited = [1, 1, 1, 1, ...Array.from({ length: 21 }, () => undefined)];
    expect(series.map(({ waited_s }) => waited_s)).toEqual(waited);
    expect(new Set(series.slice(0, 4).map(({ reason }) => reason))).toEqual(new Set([pace.reason]));
    expect(new Set(series.slice(4).map(({ reason }) => reason))).toEqual(new Set([undefined]));
  });

  test('says that the datastore was away while no row was called', async () => {
    const { series, waited_s } = await historyOf(2, { accepted: 10 }, (log) => {
      log.delay = 'Redis does not answer';
      vi.advanceTimersByTime(3_000);
      log.delay = undefined;
      vi.advanceTimersByTime(1_000);
    });
    const away = 'Redis does not answer';
    expect(series.map(({ reason }) => reason)).toEqual([undefined, undefined, away, away, away, undefined]);
    expect(waited_s).toBe(3);
  });

  test.each([600, 601, 1_500, 5_000])(
    'has no more than 600 points after %d seconds, and loses no rejection and no time',
    async (seconds) => {
      const { series, rejected } = await historyOf(seconds, { accepted: 10, rejected: 1 });
      expect(series.length).toBeLessThanOrEqual(600);
      expect(series.length).toBeGreaterThan(seconds > 600 ? 300 : 599);
      expect(series.reduce((sum, point) => sum + point.rejected, 0)).toBe(seconds);
      expect(rejected).toBe(seconds);
      expect(series.at(-1)?.t_s).toBe(seconds);
      expect(series.map(({ t_s }) => t_s)).toEqual(series.map(({ t_s }) => t_s).sort((a, b) => a - b));
      expect(new Set(series.map((point) => point.accepted_per_s))).toEqual(new Set([10]));
    },
  );

  test('continues from where an earlier process left it', async () => {
    const folder = await temporaryFolder();
    await (await logged(folder, 10, { accepted: 5, rejected: 1, restUntil: steadyNow() + 60_000 })).close();
    const between = await historyIn(folder);
    vi.advanceTimersByTime(3_600_000);
    await (await logged(folder, 5, { accepted: 7, rejected: 2 })).close();
    const { series, starts, rejected, waited_s } = await historyIn(folder);
    expect(starts).toEqual([
      { t_s: 0, at: '2026-01-01T00:00:00.000Z' },
      { t_s: 10, at: '2026-01-01T01:00:10.000Z' },
    ]);
    expect(series.slice(0, 10)).toEqual(between.series);
    expect(series.slice(10).map(({ t_s }) => t_s)).toEqual([11, 12, 13, 14, 15]);
    expect([rejected, waited_s]).toEqual([20, 10]);
  });

  test('stands still during a pause, and notes when the run continues', async () => {
    const { series, starts } = await historyOf(2, { accepted: 5 }, (log) => {
      log.paused = true;
      // On a shared datastore, other runs may go on.
      log.see({ ...pace, accepted: 100 });
      vi.advanceTimersByTime(600_000);
      log.paused = false;
      log.see({ ...pace, accepted: 200 });
      vi.advanceTimersByTime(1_000);
    });
    expect(series.map(({ t_s }) => t_s)).toEqual([1, 2, 3]);
    expect(series.map(({ accepted_per_s }) => accepted_per_s)).toEqual([5, 5, 0]);
    expect(starts.map(({ t_s, at }) => [t_s, at.slice(11, 19)])).toEqual([
      [0, '00:00:00'],
      [2, '00:10:02'],
    ]);
  });

  test.each(['', '{"version":1,"series":[', '{"version":2}', 'null', '[]'])(
    'starts again when its file is damaged: %j',
    async (text) => {
      const folder = await temporaryFolder();
      await writeFile(join(folder, 'rate.json'), text);
      expect(await readRateHistory(folder)).toBeUndefined();
      await (await logged(folder, 2)).close();
      expect((await historyIn(folder)).series).toHaveLength(2);
    },
  );

  test('causes no error when it cannot be written', async () => {
    const log = await logged(join(await temporaryFolder(), 'gone'), 3);
    await expect(log.close()).resolves.toBeUndefined();
  });
});
