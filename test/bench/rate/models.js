// @ts-check

/** @typedef {import('./world.ts').Model} Model */

const long = 310;
const bucket = 'token-bucket:rate=50,burst=10';
const minute = 60_000;
/** @type {readonly import('./world.ts').Condition[]} */
const onlyHeaders = ['RateLimit'];
/** @type {readonly import('./world.ts').Condition[]} */
const noHeaders = ['no headers', '503', 'Retry-After'];
/** @type {readonly import('./world.ts').Condition[]} */
const allHeaders = ['no headers', '503', 'Retry-After', 'RateLimit', 'X-RateLimit'];

/**
 * @param {string} title
 * @param {import('./world.ts').World} world
 * @param {Omit<Model, 'title' | 'world'>} [more]
 * @returns {Model}
 */
const model = (title, world, more) => ({ title, world, ...more });
/**
 * @param {string} limit
 * @param {number} seconds
 * @param {Omit<Model, 'title' | 'world'>} [more]
 */
const plain = (limit, seconds, more) => model(limit, { limit, seconds }, more);

/**
 * The limiters, each for as long as its figures need.
 *
 * @type {readonly Model[]}
 */
export const models = [
  plain('token-bucket:rate=5,burst=5', long),
  plain('token-bucket:rate=50,burst=5', long),
  plain('token-bucket:rate=50,burst=10', long),
  plain('token-bucket:rate=50,burst=500', long),
  plain('token-bucket:rate=100,burst=20', long),
  plain('token-bucket:rate=500,burst=100', long),
  plain('fixed-window:limit=50,window=1s', long),
  plain('sliding-window:limit=50,window=1s', long),
  plain('leaky-bucket:rate=50,queue=20', long),
  plain('leaky-bucket:rate=50,queue=200', long),
  plain('concurrency:limit=3', long),
  plain('concurrency:limit=10', long),
  plain('fixed-window:limit=600,window=1m', 360, { judged: [60, 360], conditions: allHeaders }),
  plain('fixed-window:limit=6000,window=1m', 360, { judged: [60, 360], conditions: allHeaders }),
  model(
    'fixed-window:limit=600,window=1m, 23 s into it',
    { limit: 'fixed-window:limit=600,window=1m', seconds: 337, startAt: 23_000 },
    { judged: [37, 337] },
  ),
  plain('fixed-window:limit=600,window=1m,align=first', 360, { judged: [60, 360] }),
  plain('sliding-window:limit=600,window=1m', 360, { judged: [60, 360], conditions: allHeaders }),
  model(
    'drop to a fifth: 50/s, then 10/s',
    { limit: `${bucket} then 60s token-bucket:rate=10,burst=5`, seconds: 180 },
    { judged: [70, 180], dropsAt: 60 },
  ),
  model(
    'drop to a fifth: 500/s, then 100/s',
    { limit: 'token-bucket:rate=500,burst=100 then 60s token-bucket:rate=100,burst=20', seconds: 180 },
    { judged: [70, 180], dropsAt: 60 },
  ),
  model(
    'tenfold rise: 10/s, then 100/s',
    { limit: 'token-bucket:rate=10,burst=10 then 60s token-bucket:rate=100,burst=20', seconds: 180 },
    { judged: [90, 180], risesAt: 60 },
  ),
  model(
    'tenfold rise: 50/s, then 500/s',
    { limit: `${bucket} then 65s token-bucket:rate=500,burst=100`, seconds: 180 },
    { judged: [95, 180], risesAt: 65 },
  ),
  model('1 call/s', { limit: 'token-bucket:rate=1,burst=2', seconds: 610 }),
  model('2,000 calls/s', {
    limit: 'token-bucket:rate=2000,burst=400',
    seconds: 130,
    capacity: 6_000,
    latencyMs: 50,
  }),
  model('50/s, calls of 1 s', { limit: bucket, seconds: long, latencyMs: 1_000 }),
  model(
    '20/s, calls of 5 s',
    { limit: 'token-bucket:rate=20,burst=10', seconds: long, latencyMs: 5_000 },
    { judged: [70, long] },
  ),
  model(
    'daily-quota:limit=1000, from 23:55 on',
    { limit: 'daily-quota:limit=1000', seconds: 600, startAt: (24 * 60 - 5) * minute },
    { judged: [0, 600] },
  ),
  ...[5, 50, 500].map((limit) =>
    model(
      `50/s, ${limit} calls/s learned before`,
      { limit: bucket, seconds: 70, known: { limit } },
      { judged: [0, 70], conditions: noHeaders },
    ),
  ),
  ...[
    { stated: 100, burst: 20 },
    { stated: 52, burst: 10 },
  ].map(({ stated, burst }) =>
    model(
      `50/s, but ${stated}/s are stated`,
      { limit: bucket, statedLimit: `token-bucket:rate=${stated},burst=${burst}`, seconds: long },
      { conditions: onlyHeaders },
    ),
  ),
  model(
    '600 a minute, but 6,000 are stated',
    {
      limit: 'fixed-window:limit=600,window=1m',
      seconds: 360,
      statedLimit: 'fixed-window:limit=6000,window=1m',
    },
    { judged: [60, 360], conditions: onlyHeaders },
  ),
  model(
    '50/s, nothing is answered for 10 s',
    { limit: bucket, seconds: 180, stalls: [60, 70] },
    { judged: [80, 180], risesAt: 70 },
  ),
  model(
    '50/s, every call fails with 503 for 20 s',
    { limit: bucket, seconds: 200, noise: 1, noisy: [60, 80] },
    { judged: [90, 200], risesAt: 80 },
  ),
  model(
    '50/s, others use 20/s of it for a minute',
    { limit: bucket, seconds: 190, others: { perSecond: 20, during: [60, 120] } },
    { judged: [70, 190], risesAt: 120 },
  ),
  model('50/s, 1 % are refused at random', { limit: bucket, seconds: long, noise: 0.01, noiseStatus: 429 }),
  model('50/s, 1 % fail with 503 at random', { limit: bucket, seconds: long, noise: 0.01 }),
  model('50/s, workers of 50, 5 and 1 calls in flight', {
    limit: bucket,
    seconds: 190,
    workers: 3,
    slowWorkers: [50, 5, 1],
  }),
  model('no limit', { limit: 'none', seconds: 70, capacity: 1_000 }, { isAlike: true }),
  model('a server of 8 places, 40 ms each', {
    limit: 'none',
    seconds: 130,
    server: { places: 8, serviceMs: 40 },
    latencyMs: 10,
  }),
];
