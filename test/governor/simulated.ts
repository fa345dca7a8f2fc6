import { statedLimits } from '../../src/api/limits/stated-limit.ts';
import { waitingTime } from '../../src/api/waiting-time/waiting-time.ts';
import { Governor } from '../../src/governor/governor.ts';
import { callRate } from '../../src/queue/call-rate.ts';
import { PlannedLimiter } from '../../src/sandbox/limits/limit-plan.ts';
import { parseLimitPlan } from '../../src/sandbox/options/limit-plan.ts';
import { limitHeaders } from '../../src/sandbox/service/limit-headers.ts';
import { shareOf, spacingOf, withSpare } from '../../src/worker/allotment.ts';
import { nextCallAt } from '../../src/worker/call-spacing.ts';
import { RateKeeper } from '../../src/worker/rate-keeper.ts';
import { RowsInHand } from '../../src/worker/rows-in-hand.ts';
import { turnOf } from '../../src/worker/turns.ts';
import { UnavailableCalls } from '../../src/worker/unavailable-calls.ts';
import { figuresOf } from '../bench/rate/figures.js';
import { ideal, simulate } from '../bench/rate/simulation.js';
import type { Figures, Model, Parts, Second, World } from '../bench/rate/world.ts';

const parts: Parts = {
  createGovernor: (now, options) => new Governor(now, options),
  createLimiter: (plan) => new PlannedLimiter(parseLimitPlan('--limit', plan)),
  limitHeaders,
  statedLimits,
  waitingTime,
  callRate,
  createKeeper: (now) => new RateKeeper(now),
  spacingOf,
  shareOf,
  withSpare,
  turnOf,
  nextCallAt,
  createRowsInHand: () => new RowsInHand(),
  createUnavailableCalls: () => new UnavailableCalls(),
};

/** What a client met with in each second that calls an API as the governor wants it to. */
export function played(world: World): readonly Second[] {
  return simulate(parts, world);
}

/** What that comes to. */
export function figures(world: World, model: Omit<Model, 'title' | 'world'> = {}): Figures {
  return figuresOf({ title: world.limit, world, ...model }, simulate(parts, world), ideal(parts, world));
}
