// @ts-check

/** @typedef {import('./permitted-calls.js').Permission} Permission */

/**
 * A limit that a run has to find.
 *
 * @typedef {object} LimitModel
 * @property {string} limit
 * @property {string} title
 * @property {readonly string[]} answers options of the sandbox: what answers state about the limit
 * @property {boolean} informative whether they say enough to know it without probing
 * @property {boolean} quick whether it is among the few for a quick look
 * @property {number} seconds how long to measure, from the first call, unless a quick look is enough
 */

/**
 * How many calls may be in flight. The resulting rate is measured.
 *
 * @typedef {{ readonly inFlight: number }} InFlight
 */

/** @typedef {LimitModel & { permits: Permission | InFlight }} SteadyModel */

/** @typedef {LimitModel & { riseTo?: number }} ChangingModel `riseTo` calls per second; without it the limit drops */

/** How long after the first call the limit changes, in models in which it does. */
export const changeAfterMs = 30_000;

export const latencyMs = 50;

const silent = {
  answers: ['--retry-after', 'none'],
  informative: false,
  quick: false,
  seconds: 70,
};
const informative = {
  ...silent,
  answers: ['--retry-after', 'none', '--limit-headers', 'ratelimit'],
  informative: true,
};

const bucket = { limit: 'token-bucket:rate=50,burst=10', permits: { perSecond: 50 } };
const second = { limit: 'fixed-window:limit=50,window=1s', permits: { limit: 50, windowMs: 1_000 } };
const minute = { limit: 'fixed-window:limit=600,window=1m', permits: { limit: 600, windowMs: 60_000 } };

/**
 * The longest first, because some are measured at the same time.
 *
 * @type {readonly SteadyModel[]}
 */
export const steadyModels = [
  { ...silent, ...minute, title: minute.limit, seconds: 190 },
  { ...informative, ...minute, title: `${minute.limit}, RateLimit`, seconds: 190 },
  { ...silent, ...bucket, title: bucket.limit, quick: true },
  ...[
    { limit: 'token-bucket:rate=100,burst=20', permits: { perSecond: 100 } },
    { limit: 'token-bucket:rate=50,burst=500', permits: { perSecond: 50 } },
    second,
    { limit: 'sliding-window:limit=50,window=1s', permits: { perSecond: 50 } },
    { limit: 'leaky-bucket:rate=50,queue=20', permits: { perSecond: 50 } },
    { limit: 'concurrency:limit=10', permits: { inFlight: 10 } },
  ].map((model) => ({ ...silent, ...model, title: model.limit })),
  { ...silent, ...bucket, title: `${bucket.limit}, Retry-After`, answers: [] },
  { ...informative, ...bucket, title: `${bucket.limit}, RateLimit` },
  { ...informative, ...second, title: `${second.limit}, RateLimit`, quick: true },
];

/** @type {readonly ChangingModel[]} */
export const changingModels = [
  {
    ...silent,
    title: '100/s, then 20/s',
    limit: 'token-bucket:rate=100,burst=20 then 30s token-bucket:rate=20,burst=5',
    quick: true,
  },
  {
    ...silent,
    title: '10/s, then 100/s',
    limit: 'token-bucket:rate=10,burst=5 then 30s token-bucket:rate=100,burst=20',
    riseTo: 100,
  },
];
