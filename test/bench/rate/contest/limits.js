// @ts-check
import { changingModels, latencyMs, steadyModels } from '../../measure/limit-models.js';

/** @typedef {import('../world.ts').ContestLimit} ContestLimit */
/** @typedef {import('../../measure/limit-models.js').LimitModel} LimitModel */

/** Calls a second that a contestant could make at most. */
const capacity = 1_000;

/**
 * @param {Pick<LimitModel, 'title' | 'limit' | 'answers' | 'seconds'>} model
 * @param {number} perSecond
 * @returns {ContestLimit}
 */
function played({ title, limit, answers, seconds }, perSecond) {
  const waits = !answers.includes('--retry-after');
  const states = answers.includes('ratelimit');
  const world = { limit, seconds, latencyMs, capacity, retryAfter: waits };
  return {
    title,
    world: states ? { ...world, headers: 'ratelimit' } : world,
    perSecond,
    ...(limit.includes('window=1m') && { judged: [60, 180] }),
  };
}

/**
 * The limits of `npm run bench -- governor`.
 *
 * @type {readonly ContestLimit[]}
 */
export const contestLimits = [
  ...steadyModels.map((model) => {
    const { permits } = model;
    if ('perSecond' in permits) return played(model, permits.perSecond);
    return 'inFlight' in permits
      ? played(model, (1_000 * permits.inFlight) / latencyMs)
      : played(model, (1_000 * permits.limit) / permits.windowMs);
  }),
  ...changingModels.map((model) => played(model, Number(/rate=(\d+)/.exec(model.limit)?.[1]))),
  played({ title: 'no limit', limit: 'none', answers: ['--retry-after', 'none'], seconds: 70 }, capacity),
];
