import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { steadyNow } from '../../../../src/base/async/clock.ts';
import type { Pace } from '../../../../src/domain/pace.ts';
import { keepEstimate, openEstimatedLimits } from '../../../../src/engine/run/work/estimated-limits.ts';
import { temporaryFolder } from '../../../helpers/temporary-folder.ts';

const api = 'https://api.example.com';
const dayMs = 24 * 60 * 60 * 1_000;

async function limitsFile(folder: string): Promise<{ limits: Record<string, unknown>[] }> {
  return JSON.parse(await readFile(join(folder, 'limits.json'), 'utf8'));
}

describe('the estimated limits of an API', () => {
  afterEach(() => {
    vi.useRealTimers();
  });

  test('is known to the next run, in full or in part', async () => {
    const folder = await temporaryFolder();
    const limits = openEstimatedLimits(folder, api, 'abcd');
    vi.useFakeTimers({ toFake: ['Date', 'performance'] });
    const restUntil = steadyNow() + dayMs;
    expect(await limits.load()).toEqual({});
    for (const known of [{ limit: 49.5, concurrency: 20, restUntil }, { limit: 0.003 }, { restUntil }, {}]) {
      await limits.save(known);
      expect(await openEstimatedLimits(folder, api, 'abcd').load()).toEqual(known);
    }
  });

  test('is kept separately for each API and each token', async () => {
    const folder = await temporaryFolder();
    const keys = [
      [api, 'abcd'],
      [api, 'dcba'],
      [`${api}/v2`, 'abcd'],
    ] as const;
    const all = keys.map(([baseUrl, mark]) => openEstimatedLimits(folder, baseUrl, mark));
    for (const [index, limits] of all.entries()) await limits.save({ limit: index + 1 });
    const known = await Promise.all(all.map((limits) => limits.load()));
    expect(known.map(({ limit }) => limit)).toEqual([1, 2, 3]);
    expect(await openEstimatedLimits(folder, `${api}/v2`, 'dcba').load()).toEqual({});
  });

  test('is forgotten after 30 days', async () => {
    vi.useFakeTimers({ toFake: ['Date'] });
    const folder = await temporaryFolder();
    const limits = openEstimatedLimits(folder, api, 'abcd');
    await limits.save({ limit: 10 });
    vi.setSystemTime(Date.now() + 30 * dayMs - 1);
    expect(await limits.load()).toEqual({ limit: 10 });
    vi.setSystemTime(Date.now() + 1);
    expect(await limits.load()).toEqual({});
    await openEstimatedLimits(folder, api, 'dcba').save({ limit: 1 });
    expect((await limitsFile(folder)).limits).toMatchObject([{ token: 'dcba' }]);
  });

  test('does not lengthen a wait when the clock was set back', async () => {
    vi.useFakeTimers({ toFake: ['Date', 'performance'] });
    const limits = openEstimatedLimits(await temporaryFolder(), api, 'abcd');
    await limits.save({ restUntil: steadyNow() + 60_000 });
    vi.setSystemTime(Date.now() - 3_600_000);
    expect(await limits.load()).toEqual({ restUntil: steadyNow() + 60_000 });
  });

  test.each([
    ['a file of another version', '{"version":2,"limits":[]}'],
    [
      'a file with an invalid rate',
      '{"version":1,"limits":[{"base_url":"x","token":"x","rate_per_s":0,"at":"x"}]}',
    ],
    ['a file without dates', `{"version":1,"limits":[{"base_url":"${api}","token":"abcd","at":"soon"}]}`],
  ])('is empty in a damaged file (%s), and can be learned again', async (_title, text) => {
    const folder = await temporaryFolder();
    await writeFile(join(folder, 'limits.json'), text);
    const limits = openEstimatedLimits(folder, api, 'abcd');
    expect(await limits.load()).toEqual({});
    await limits.save({ limit: 10 });
    expect(await limits.load()).toEqual({ limit: 10 });
  });

  test.each([
    ['a rate of 0', { limit: 0 }],
    ['a concurrency of 0', { concurrency: 0 }],
  ])('is not lost through %s', async (_title, senseless) => {
    const folder = await temporaryFolder();
    const others = openEstimatedLimits(folder, api, 'dcba');
    await others.save({ limit: 10 });
    const limits = openEstimatedLimits(folder, api, 'abcd');
    await limits.save(senseless);
    expect([await limits.load(), await others.load()]).toEqual([{}, { limit: 10 }]);
  });

  describe('after a run', () => {
    const more = { refuses503: false, reason: 'as requested' };
    const fixed: Pace = { isKept: true, concurrency: 9, phase: 'fixed', ...more };

    test.each<[string, Partial<Pace>, object]>([
      ['that ended without a rest forgets the wait, so that no later run waits for it', {}, { limit: 10 }],
      ['that found a limit forgets the wait, too', { limit: 20 }, { limit: 20, concurrency: 9 }],
    ])('%s', async (_title, pace, expected) => {
      const limits = openEstimatedLimits(await temporaryFolder(), api, 'abcd');
      await limits.save({ limit: 10, restUntil: steadyNow() + dayMs, restBy: 'Retry-After: 86400' });
      await keepEstimate(limits, { ...fixed, ...pace });
      expect(await limits.load()).toEqual(expected);
    });

    test('that still rests keeps the wait, and what asked for it', async () => {
      vi.useFakeTimers({ toFake: ['Date', 'performance'] });
      const limits = openEstimatedLimits(await temporaryFolder(), api, 'abcd');
      const rest = { restUntil: steadyNow() + dayMs, restBy: 'Retry-After: 86400' };
      await keepEstimate(limits, { ...fixed, ...rest });
      expect(await limits.load()).toEqual(rest);
    });
  });
});
