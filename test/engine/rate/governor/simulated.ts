import { statedLimits } from '../../../../src/engine/api/limits.ts';
import { waitingTime } from '../../../../src/engine/api/waiting-time.ts';
import { newTimeline, setRate, take } from '../../../../src/engine/cluster/timeline.ts';
import { CallScheduler } from '../../../../src/engine/rate/call-scheduler.ts';
import { RateController } from '../../../../src/engine/rate/rate-controller.ts';
import { ownTiming, sharedTiming } from '../../../../src/engine/rate/timeline-visits.ts';
import { isRefusal } from '../../../../src/engine/rate/traffic-meter.ts';
import { Prefetch, withSpare } from '../../../../src/engine/worker/prefetch.ts';
import { limitHeaders } from '../../../../src/sandbox/limits/allowance.ts';
import { parseLimitPlan } from '../../../../src/sandbox/limits/plan.ts';
import { figuresOf } from '../../../bench/rate/figures.js';
import { ideal, simulate } from '../../../bench/rate/simulation.js';
import type { Figures, Model, Parts, Second, World } from '../../../bench/rate/world.ts';

export const parts: Parts = {
  createController: (now, start) => new RateController(now, start),
  createLimiter: (plan) => parseLimitPlan('--limit', plan),
  limitHeaders,
  statedLimits,
  waitingTime: (...answer) => waitingTime(...answer)?.ms,
  createScheduler: ({ isShared, ...options }) =>
    new CallScheduler({ ...options, timing: isShared ? sharedTiming : ownTiming }),
  newTimeline,
  setRate,
  take,
  withSpare,
  createPrefetch: () => new Prefetch(),
  isRefusal,
};

/**
 * Runs that were played, by their world: a longer one begins like a shorter one. Runs that report each call are not
 * kept.
 */
const games = new Map<string, readonly Second[]>();

/** What a client met with in each second, calling an API as the governor decides. */
export function played(world: World): readonly Second[] {
  if (Object.values(world).some((value) => typeof value === 'function')) return simulate(parts, world);
  const { seconds, ...rest } = world;
  const key = JSON.stringify({ limitStatus: 429, seed: 1, ...rest });
  const game = games.get(key);
  if (game !== undefined && game.length >= seconds) return game.slice(0, seconds);
  const longer = simulate(parts, world);
  games.set(key, longer);
  return longer;
}

/** The figures of such a run. */
export function figures(world: World, model: Omit<Model, 'title' | 'world'> = {}): Figures {
  return figuresOf({ title: world.limit, world, ...model }, played(world), ideal(parts, world));
}
