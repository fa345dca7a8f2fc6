import { describe, expect, test } from 'vitest';
import type { World } from '../../bench/rate/world.ts';
import { callsOf, mostWithin, perSecond } from './simulated-calls.ts';

const seeds = [1, 2, 3, 4, 5];

/** What GCRA permits beyond the rate: the calls of one more gap at each end of a second. */
const beyond = 2;

describe.each([1, 3, 5, 10, 20])('%d workers', (workers) => {
  test.each([0.5, 5, 50, 100, 300, 500, 2_000])(
    'make hardly more than %d calls in any second and minute, and hardly any fewer',
    (rate) => {
      const seconds = rate < 1 ? 60 : 20;
      for (const seed of rate > 500 ? seeds.slice(0, 2) : seeds) {
        const calls = callsOf({
          fixed: rate,
          workers,
          seconds,
          seed,
          latencyMs: rate > 500 ? 20 : 50,
          capacity: 5_000,
        });
        expect(mostWithin(calls, 1_000)).toBeLessThanOrEqual(Math.ceil(rate) + beyond);
        // Where slots are close together, one late timer costs a worker several of them, and more calls are in flight than seats at first.
        const part = rate > 500 ? 0.81 : 0.97;
        expect(perSecond(calls, 5, seconds), `seed ${seed}`).toBeGreaterThan(part * rate);
      }
    },
  );
});

test.each([1, 3, 10])('%d workers exceed a rate by less than 1.5 % in any minute', (workers) => {
  for (const rate of [2, 50, 300])
    for (const seed of seeds) {
      const calls = callsOf({ fixed: rate, workers, seconds: 90, seed });
      expect(mostWithin(calls, 60_000)).toBeLessThanOrEqual(60 * rate * 1.015);
    }
});

describe('the rate is kept', () => {
  const world = { fixed: 50, workers: 3, seconds: 30 };
  const late = { delayMs: 5, jitterMs: 40 };

  test.each<[string, Omit<World, 'limit' | 'seconds'>]>([
    ['messages are late and out of order', { network: late }],
    ['messages are lost', { network: { lost: 0.02 } }],
    ['the timeline is away for a while', { network: { away: [8, 12] } }],
    [
      'workers freeze',
      {
        frozen: [
          [0, 6, 6.7],
          [1, 8, 13],
          [2, 12, 12.3],
        ],
      },
    ],
    ['no worker leads for a while', { leaderAt: (second) => (second > 8 && second < 14 ? '' : 'worker-0') }],
    ['the lead moves between workers', { leaderAt: (second) => `worker-${Math.floor(second / 4) % 3}` }],
    ['the timeline is lost', { forgets: [6, 8.03, 10.06, 12.09, 14.5], network: { away: [8, 8.03] } }],
    ['the timeline is lost while it is away', { forgets: [8, 12], network: { ...late, away: [8, 8.4] } }],
    ['another worker believes that it leads', { otherLeader: { rate: 500, during: [5, 25] } }],
  ])('when %s', (_what, trouble) => {
    for (const seed of seeds) {
      const calls = callsOf({ ...world, ...trouble, seed });
      expect(mostWithin(calls, 1_000)).toBeLessThanOrEqual(50 + beyond);
      expect(mostWithin(calls, 200)).toBeLessThanOrEqual(12);
      expect(perSecond(calls, 20, 30)).toBeGreaterThan(45);
    }
  });

  test('of a few calls per second by workers that freeze and with late messages', () => {
    const trouble: Partial<World> = { network: { jitterMs: 40 }, frozen: [[1, 10, 20]] };
    const calls = callsOf({ fixed: 2, workers: 5, seconds: 60, ...trouble });
    expect(mostWithin(calls, 1_000)).toBeLessThanOrEqual(2 + beyond);
  });
});

describe.each([1, 2, 3, 5])('%d workers that are suspended between slots and calls', (workers) => {
  test.each([5, 50, 100, 250])('never make more than %d calls plus two in a second', (rate) => {
    for (const seed of seeds) {
      const suspended = { everyCalls: 20, forMs: 60 };
      const calls = callsOf({ fixed: rate, workers, seconds: 30, suspended, seed });
      expect(mostWithin(calls, 1_000)).toBeLessThanOrEqual(rate + beyond);
      expect(perSecond(calls, 5, 30)).toBeGreaterThan(0.5 * rate);
    }
  });
});

describe('a worker', () => {
  test('that is slow leaves what it cannot use to the others', () => {
    const calls = callsOf({ fixed: 100, workers: 2, seconds: 20, slowWorkers: [1] });
    expect(perSecond(calls, 5, 20)).toBeGreaterThan(95);
    expect(mostWithin(calls, 1_000)).toBeLessThanOrEqual(100 + beyond);
    const ofSlow = calls.filter(({ worker }) => worker === 0);
    expect(perSecond(ofSlow, 5, 20)).toBeLessThan(25);
  });

  test('that takes long to write intents uses the whole rate, and never more', () => {
    for (const writeMs of [10, 30]) {
      const calls = callsOf({ fixed: 100, workers: 2, seconds: 20, writeMs });
      expect(perSecond(calls, 5, 20)).toBeGreaterThan(99);
      expect(mostWithin(calls, 1_000)).toBeLessThanOrEqual(100 + beyond);
    }
  });
});
