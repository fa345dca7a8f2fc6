import { waitingTime } from '../../../src/api/classify/waiting-time.ts';
import { statedLimits } from '../../../src/api/limits/answer-limits.ts';
import { newTimeline, setRate, take } from '../../../src/cluster/timeline.ts';
import { CallScheduler } from '../../../src/rate/call-scheduler.ts';
import { RateController } from '../../../src/rate/rate-controller.ts';
import { isRefusal } from '../../../src/rate/refusal.ts';
import { ownTiming, sharedTiming } from '../../../src/rate/visit-timing.ts';
import { PlannedLimiter, parseLimitPlan } from '../../../src/sandbox/limits/plan.ts';
import { limitHeaders } from '../../../src/sandbox/service/limit-headers.ts';
import { Prefetch, withSpare } from '../../../src/worker/prefetch.ts';
import { figuresOf } from '../../bench/rate/figures.js';
import { ideal, simulate } from '../../bench/rate/simulation.js';
import type { Figures, Model, Parts, Second, World } from '../../bench/rate/world.ts';

const parts: Parts = {
  createController: (now, start, most) => new RateController(now, start, most),
  createLimiter: (plan) => new PlannedLimiter(parseLimitPlan('--limit', plan)),
  limitHeaders,
  statedLimits,
  waitingTime,
  createScheduler: ({ isShared, ...options }) =>
    new CallScheduler({ ...options, timing: isShared ? sharedTiming : ownTiming }),
  newTimeline,
  setRate,
  take,
  withSpare,
  createPrefetch: () => new Prefetch(),
  isRefusal,
};

/** What a client met with in each second that calls an API as the governor wants it to. */
export function played(world: World): readonly Second[] {
  return simulate(parts, world);
}

/** What that comes to. */
export function figures(world: World, model: Omit<Model, 'title' | 'world'> = {}): Figures {
  return figuresOf({ title: world.limit, world, ...model }, simulate(parts, world), ideal(parts, world));
}
