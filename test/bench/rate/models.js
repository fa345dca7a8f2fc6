// @ts-check

/** @typedef {import('./world.ts').Model} Model */

const long = 310;

/**
 * The limiters, each as long as it takes to tell.
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
  { title: 'no limit', world: { limit: 'none', seconds: 70, capacity: 1_000 } },
  {
    title: 'a server of 8 places, 40 ms each',
    world: { limit: 'none', seconds: 130, server: { places: 8, serviceMs: 40 }, latencyMs: 10 },
  },
];
