import { describe, expect, test } from 'vitest';
import type { Second, World } from '../../../bench/rate/world.ts';
import { played } from './simulated.ts';

const seeds = [1, 2, 3, 4, 5];
const bucket = 'token-bucket:rate=50,burst=10';

type Seconds = readonly Pick<Second, 'accepted' | 'rejected'>[];
const acceptedIn = (seconds: Seconds) => seconds.reduce((sum, { accepted }) => sum + accepted, 0);
const perSecond = (seconds: Seconds) => acceptedIn(seconds) / seconds.length;
const average = (values: readonly number[]) => values.reduce((sum, value) => sum + value, 0) / values.length;

describe('single 429s at any rate (4 %)', () => {
  const stray = { noise: 0.04, noiseStatus: 429, capacity: 300, latencyMs: 20 } as const;
  /** The seconds until the last of 300 rows. */
  const secondsFor = (world: Partial<World>, seed: number) => {
    const seconds = played({ limit: 'none', ...stray, ...world, seed, seconds: 120 });
    const last = seconds.findIndex((_, second) => acceptedIn(seconds.slice(0, second + 1)) >= 300);
    return last < 0 ? Number.POSITIVE_INFINITY : last;
  };

  test.each<[title: string, world: Partial<World>, within: number, least: number]>([
    ['without a waiting time', {}, 40, 60],
    ['that ask to wait for a second', { noiseWaits: true }, 60, 12],
  ])('do not lower the rate further and further (%s)', (_title, world, within, least) => {
    for (const seed of seeds) expect(secondsFor(world, seed), `seed ${seed}`).toBeLessThanOrEqual(within);
    const games = seeds.map((seed) =>
      played({ limit: 'none', ...stray, ...world, seed, seconds: 120 }).slice(60),
    );
    expect(average(games.map(perSecond))).toBeGreaterThan(least);
  });

  test.each<[title: string, world: Partial<World>]>([
    ['without a waiting time', {}],
    ['that ask to wait for a second', { noiseWaits: true, retryAfter: true }],
  ])('do not hide a limit of 50/s (%s)', (_title, world) => {
    const games = seeds.map((seed) => played({ limit: bucket, ...stray, ...world, seed, seconds: 120 }));
    const mean = average(games.map((game) => perSecond(game.slice(60))));
    expect(mean).toBeGreaterThan(world.noiseWaits ? 10 : 30);
    for (const game of games)
      for (const { accepted, rejected } of game.slice(60))
        expect(accepted + rejected).toBeLessThan((2.5 * 50) / 0.96);
  });
});
