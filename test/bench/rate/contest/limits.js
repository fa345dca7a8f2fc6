// @ts-check

/** @typedef {import('../world.ts').ContestLimit} ContestLimit */

/** Calls a second that a contestant could make at most. */
const capacity = 1_000;

const bucket = 'token-bucket:rate=50,burst=10';
const second = 'fixed-window:limit=50,window=1s';
const minute = 'fixed-window:limit=600,window=1m';
const titles = {
  'Retry-After': { retryAfter: true },
  RateLimit: { headers: /** @type {const} */ ('ratelimit') },
};

/**
 * @param {string} limit
 * @param {number} perSecond
 * @param {Partial<ContestLimit> & { tells?: keyof typeof titles }} [more]
 * @returns {ContestLimit}
 */
function played(limit, perSecond, { tells, ...more } = {}) {
  const isLong = limit === minute;
  return {
    title: tells === undefined ? limit : `${limit}, ${tells}`,
    world: { limit, seconds: isLong ? 190 : 70, latencyMs: 50, capacity, ...(tells && titles[tells]) },
    perSecond,
    ...(isLong && { judged: [60, 180] }),
    ...more,
  };
}

/**
 * The limits of the contest. The longest first, because some are played at the same time.
 *
 * @type {readonly ContestLimit[]}
 */
export const contestLimits = [
  played(minute, 10),
  played(minute, 10, { tells: 'RateLimit' }),
  played(bucket, 50),
  played('token-bucket:rate=100,burst=20', 100),
  played('token-bucket:rate=50,burst=500', 50),
  played(second, 50),
  played('sliding-window:limit=50,window=1s', 50),
  played('leaky-bucket:rate=50,queue=20', 50),
  played('concurrency:limit=10', 200),
  played(bucket, 50, { tells: 'Retry-After' }),
  played(bucket, 50, { tells: 'RateLimit' }),
  played(second, 50, { tells: 'RateLimit' }),
  played('token-bucket:rate=100,burst=20 then 30s token-bucket:rate=20,burst=5', 100, {
    title: '100/s, then 20/s',
    dropsAt: 30,
  }),
  played('token-bucket:rate=10,burst=5 then 30s token-bucket:rate=100,burst=20', 10, {
    title: '10/s, then 100/s',
    risesAt: 30,
  }),
  played('none', capacity, { title: 'no limit' }),
];
