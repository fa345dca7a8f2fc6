// @ts-check
import { statedLimits } from '../../../dist/src/api/limits/stated-limit.js';
import { waitingTime } from '../../../dist/src/api/waiting-time/waiting-time.js';
import { Governor } from '../../../dist/src/governor/governor.js';
import { callRate } from '../../../dist/src/queue/call-rate.js';
import { PlannedLimiter } from '../../../dist/src/sandbox/limits/limit-plan.js';
import { parseLimitPlan } from '../../../dist/src/sandbox/options/limit-plan.js';
import { limitHeaders } from '../../../dist/src/sandbox/service/limit-headers.js';
import { shareOf, spacingOf, withSpare } from '../../../dist/src/worker/allotment.js';
import { nextCallAt } from '../../../dist/src/worker/call-spacing.js';
import { RateKeeper } from '../../../dist/src/worker/rate-keeper.js';
import { RowsInHand } from '../../../dist/src/worker/rows-in-hand.js';
import { turnOf } from '../../../dist/src/worker/turns.js';
import { UnavailableCalls } from '../../../dist/src/worker/unavailable-calls.js';

/**
 * The program as it is built.
 *
 * @type {import('./world.ts').Parts}
 */
export const parts = {
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
