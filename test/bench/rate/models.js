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
 * The limiters, each for as long as its figures need.
 *
 * @type {readonly Model[]}
 */
export const models = [
  ...[
    'token-bucket:rate=5,burst=5',
    'token-bucket:rate=50,burst=5',
    'token-bucket:rate=50,burst=10',
    'token-bucket:rate=50,burst=500',
    'token-bucket:rate=100,burst=20',
    'token-bucket:rate=500,burst=100',
    'fixed-window:limit=50,window=1s',
    'sliding-window:limit=50,window=1s',
    'leaky-bucket:rate=50,queue=20',
    'leaky-bucket:rate=50,queue=200',
    'concurrency:limit=3',
    'concurrency:limit=10',
  ].map((limit) => ({ title: limit, world: { limit, seconds: long } })),
  ...['fixed-window:limit=600,window=1m', 'fixed-window:limit=6000,window=1m'].map((limit) => ({
    title: limit,
    world: { limit, seconds: 360 },
    judged: /** @type {const} */ ([60, 360]),
    conditions: allHeaders,
  })),
  {
    title: 'fixed-window:limit=600,window=1m, 23 s into it',
    world: { limit: 'fixed-window:limit=600,window=1m', seconds: 337, startAt: 23_000 },
    judged: [37, 337],
  },
  {
    title: 'fixed-window:limit=600,window=1m,align=first',
    world: { limit: 'fixed-window:limit=600,window=1m,align=first', seconds: 360 },
    judged: [60, 360],
  },
  {
    title: 'sliding-window:limit=600,window=1m',
    world: { limit: 'sliding-window:limit=600,window=1m', seconds: 360 },
    judged: [60, 360],
    conditions: allHeaders,
  },
  {
    title: 'drop to a fifth: 50/s, then 10/s',
    world: {
      limit: 'token-bucket:rate=50,burst=10 then 60s token-bucket:rate=10,burst=5',
      seconds: 180,
    },
    judged: [70, 180],
    dropsAt: 60,
  },
  {
    title: 'drop to a fifth: 500/s, then 100/s',
    world: {
      limit: 'token-bucket:rate=500,burst=100 then 60s token-bucket:rate=100,burst=20',
      seconds: 180,
    },
    judged: [70, 180],
    dropsAt: 60,
  },
  {
    title: 'tenfold rise: 10/s, then 100/s',
    world: {
      limit: 'token-bucket:rate=10,burst=10 then 60s token-bucket:rate=100,burst=20',
      seconds: 180,
    },
    judged: [90, 180],
    risesAt: 60,
  },
  {
    title: 'tenfold rise: 50/s, then 500/s',
    world: {
      limit: 'token-bucket:rate=50,burst=10 then 65s token-bucket:rate=500,burst=100',
      seconds: 180,
    },
    judged: [95, 180],
    risesAt: 65,
  },
  {
    title: '1 call/s',
    world: { limit: 'token-bucket:rate=1,burst=2', seconds: 610 },
  },
  {
    title: '2,000 calls/s',
    world: { limit: 'token-bucket:rate=2000,burst=400', seconds: 130, capacity: 6_000, latencyMs: 50 },
  },
  { title: '50/s, calls of 1 s', world: { limit: bucket, seconds: long, latencyMs: 1_000 } },
  {
    title: '20/s, calls of 5 s',
    world: { limit: 'token-bucket:rate=20,burst=10', seconds: long, latencyMs: 5_000 },
    judged: [70, long],
  },
  {
    title: 'daily-quota:limit=1000, from 23:55 on',
    world: { limit: 'daily-quota:limit=1000', seconds: 600, startAt: (24 * 60 - 5) * minute },
    judged: [0, 600],
  },
  {
    title: '50/s, 5 calls/s learned before',
    world: { limit: bucket, seconds: 70, known: { limit: 5 } },
    judged: [0, 70],
    conditions: noHeaders,
  },
  {
    title: '50/s, 50 calls/s learned before',
    world: { limit: bucket, seconds: 70, known: { limit: 50 } },
    judged: [0, 70],
    conditions: noHeaders,
  },
  {
    title: '50/s, 500 calls/s learned before',
    world: { limit: bucket, seconds: 70, known: { limit: 500 } },
    judged: [0, 70],
    conditions: noHeaders,
  },
  {
    title: '50/s, but 100/s are stated',
    world: { limit: bucket, statedLimit: 'token-bucket:rate=100,burst=20', seconds: long },
    conditions: onlyHeaders,
  },
  {
    title: '50/s, but 52/s are stated',
    world: { limit: bucket, statedLimit: 'token-bucket:rate=52,burst=10', seconds: long },
    conditions: onlyHeaders,
  },
  {
    title: '600 a minute, but 6,000 are stated',
    world: {
      limit: 'fixed-window:limit=600,window=1m',
      statedLimit: 'fixed-window:limit=6000,window=1m',
      seconds: 360,
    },
    judged: [60, 360],
    conditions: onlyHeaders,
  },
  {
    title: '50/s, nothing is answered for 10 s',
    world: { limit: bucket, seconds: 180, stalls: [60, 70] },
    judged: [80, 180],
    risesAt: 70,
  },
  {
    title: '50/s, every call fails with 503 for 20 s',
    world: { limit: bucket, seconds: 200, noise: 1, noisy: [60, 80] },
    judged: [90, 200],
    risesAt: 80,
  },
  {
    title: '50/s, others use 20/s of it for a minute',
    world: { limit: bucket, seconds: 190, others: { perSecond: 20, during: [60, 120] } },
    judged: [70, 190],
    risesAt: 120,
  },
  {
    title: '50/s, 1 % are refused at random',
    world: { limit: bucket, seconds: long, noise: 0.01, noiseStatus: 429 },
  },
  {
    title: '50/s, 1 % fail with 503 at random',
    world: { limit: bucket, seconds: long, noise: 0.01 },
  },
  {
    title: '50/s, workers of 50, 5 and 1 calls in flight',
    world: { limit: bucket, seconds: 190, workers: 3, slowWorkers: [50, 5, 1] },
  },
  { title: 'no limit', world: { limit: 'none', seconds: 70, capacity: 1_000 }, isAlike: true },
  {
    title: 'a server of 8 places, 40 ms each',
    world: { limit: 'none', seconds: 130, server: { places: 8, serviceMs: 40 }, latencyMs: 10 },
  },
];
