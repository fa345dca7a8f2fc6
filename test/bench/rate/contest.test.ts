import { describe, expect, test } from 'vitest';
import { compete } from './contest/compete.js';
import { contestants } from './contest/contestants.js';
import { contestLimits } from './contest/limits.js';
import type { World } from './world.ts';

const bucket = { limit: 'token-bucket:rate=50,burst=10', seconds: 20, capacity: 1_000 };

async function total(name: string, world: World, from = 5) {
  const contestant = contestants[name]?.(50);
  if (contestant === undefined) throw new Error(`There is no contestant "${name}".`);
  const seconds = (await compete(world, contestant)).slice(from);
  const sum = (key: 'accepted' | 'rejected') => seconds.reduce((all, second) => all + second[key], 0);
  return { accepted: sum('accepted') / seconds.length, rejected: sum('rejected') / seconds.length };
}

test('the contest has fifteen limits, with the rate of each', () => {
  expect(contestLimits.map(({ perSecond }) => perSecond)).toEqual([
    10, 10, 50, 100, 50, 50, 50, 50, 200, 50, 50, 50, 100, 10, 1_000,
  ]);
});

describe('a contestant', () => {
  test('calls at its rate, whatever the answers', async () => {
    expect(await total('half the rate', bucket)).toEqual({ accepted: 25, rejected: 0 });
    expect(await total('the rate', bucket)).toEqual({ accepted: 50, rejected: 0 });
    expect(await total('twice the rate', bucket)).toEqual({ accepted: 50, rejected: 50 });
  });

  test('of AWS slows down when it is refused', async () => {
    const { accepted, rejected } = await total('AWS adaptive', bucket);
    expect(accepted).toBeGreaterThan(20);
    expect(rejected).toBeLessThan(5);
  });

  test('with a gradient follows the latency of the calls, not refusals', async () => {
    const slow = { limit: 'none', server: { places: 8, serviceMs: 40 }, seconds: 120, capacity: 1_000 };
    expect((await total('Gradient2', slow)).accepted).toBeGreaterThan(190);
    expect((await total('Gradient2', bucket)).rejected).toBeGreaterThan(300);
  });

  test('with a queue makes no more than the guessed calls a second', async () => {
    expect(await total('p-queue', { ...bucket, limit: 'none' })).toEqual({ accepted: 50, rejected: 0 });
  });

  test('leaves no simulated timers behind', async () => {
    const before = [Date, setTimeout, setInterval, Math.random];
    await total('p-queue', { ...bucket, seconds: 6 });
    expect([Date, setTimeout, setInterval, Math.random]).toEqual(before);
  });
});
