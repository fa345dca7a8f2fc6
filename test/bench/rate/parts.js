// @ts-check

import { statedLimits } from '../../../dist/src/engine/api/limits.js';
import { waitingTime } from '../../../dist/src/engine/api/waiting-time.js';
import { newTimeline, setRate, take } from '../../../dist/src/engine/cluster/timeline.js';
import { CallScheduler } from '../../../dist/src/engine/rate/call-scheduler.js';
import { RateController } from '../../../dist/src/engine/rate/rate-controller.js';
import { ownTiming, sharedTiming } from '../../../dist/src/engine/rate/timeline-visits.js';
import { isRefusal } from '../../../dist/src/engine/rate/traffic-meter.js';
import { Prefetch, withSpare } from '../../../dist/src/engine/worker/prefetch.js';
import { limitHeaders } from '../../../dist/src/sandbox/limits/allowance.js';
import { parseLimitPlan } from '../../../dist/src/sandbox/limits/plan.js';

/**
 * The built program.
 *
 * @type {import('./world.ts').Parts}
 */
export const parts = {
  createController: (now, known) => new RateController(now, known),
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
