import { describe, expect, test } from 'vitest';
import { figures, played } from '../../engine/rate/governor/simulated.ts';
import type { Second, World } from './world.ts';

/** Simulated time: these assertions do not depend on the machine. The figures have some slack. */
const hour = 3_600;
const seeds = [1, 2, 3, 4, 5];
const bucket = 'token-bucket:rate=50,burst=10';

type Seconds = readonly Omit<Second, 'pace'>[];
const total = (seconds: Seconds, kind: 'accepted' | 'rejected' | 'doubtful') =>
  seconds.reduce((sum, second) => sum + second[kind], 0);
const perSecond = (seconds: Seconds) => total(seconds, 'accepted') / seconds.length;
const average = (values: readonly number[]) => values.reduce((sum, value) => sum + value, 0) / values.length;
/** The average over all seeds. */
const overSeeds = (world: World, figure: 'used' | 'rejected', model?: Parameters<typeof figures>[1]) =>
  average(seeds.map((seed) => figures({ ...world, seed }, model)[figure]));

describe('without headers', () => {
  test.each<[limit: string, used: number, rejected: number]>([
    [bucket, 0.97, 0.005],
    ['token-bucket:rate=50,burst=5', 0.96, 0.005],
    ['token-bucket:rate=500,burst=100', 0.97, 0.005],
    ['token-bucket:rate=5,burst=5', 0.96, 0.01],
    ['fixed-window:limit=50,window=1s', 0.95, 0.008],
    ['sliding-window:limit=50,window=1s', 0.93, 0.005],
    ['leaky-bucket:rate=50,queue=20', 0.96, 0.005],
    ['concurrency:limit=3', 0.95, 0.005],
    ['concurrency:limit=10', 0.95, 0.005],
  ])('%s is well used and rarely exceeded', (limit, used, rejected) => {
    const found = figures({ limit, seconds: 190 });
    expect(found.used).toBeGreaterThan(used);
    expect(found.rejected).toBeLessThan(rejected);
  });

  test.each(['fixed-window:limit=600,window=1m', 'sliding-window:limit=600,window=1m'])(
    '%s is spread over its window once that is known',
    (limit) => {
      const found = figures({ limit, seconds: 300 }, { judged: [60, 300] });
      expect(found.used).toBeGreaterThan(0.95);
      expect(found.rejected).toBeLessThan(0.01);
    },
  );

  test('a limit that drops to a fifth is kept within seconds', () => {
    const limit = 'token-bucket:rate=50,burst=10 then 60s token-bucket:rate=10,burst=5';
    const found = figures({ limit, seconds: 120 }, { judged: [70, 120], dropsAt: 60 });
    expect(found.droppedAfter).toBeLessThanOrEqual(8);
    expect(found.used).toBeGreaterThan(0.95);
  });

  test('a limit that rises tenfold is in use within half a minute', () => {
    const limit = 'token-bucket:rate=50,burst=10 then 65s token-bucket:rate=500,burst=100';
    expect(figures({ limit, seconds: 120 }, { risesAt: 65 }).risenAfter).toBeLessThanOrEqual(30);
  });
});

describe('refusals at any rate', () => {
  const last = (seconds: Seconds) => perSecond(seconds.slice(60));

  test.each([
    bucket,
    'token-bucket:rate=5,burst=5',
    'token-bucket:rate=500,burst=100',
    'token-bucket:rate=50,burst=10 then 40s token-bucket:rate=5,burst=5',
    'fixed-window:limit=50,window=1s',
    'fixed-window:limit=600,window=1m',
    'sliding-window:limit=50,window=1s',
    'concurrency:limit=3',
  ])('are distinguished from those of %s that answers 503, which is kept as well as with 429', (limit) => {
    // With 500 calls a second, a minute tells as much as ten minutes with 50.
    const seconds = limit.startsWith('token-bucket:rate=500') ? 120 : 180;
    const judged = { judged: [60, seconds] } as const;
    const mean = (limitStatus: 429 | 503, figure: 'used' | 'rejected') =>
      overSeeds({ limit, limitStatus, seconds }, figure, judged);
    expect(mean(503, 'used')).toBeGreaterThan(mean(429, 'used') - 0.01);
    expect(mean(503, 'rejected')).toBeLessThan(Math.max(0.01, mean(429, 'rejected') + 0.01));
  });

  test.each([0.2, 0.5, 0.8])(
    '(%d of them) do not hold the rate down, and do not count as refusals',
    (noise) => {
      for (const seed of seeds) {
        const seconds = played({ limit: 'none', noise, seed, seconds: 90, capacity: 300 });
        expect(last(seconds)).toBeGreaterThan(200 * (1 - noise));
        const reason = /^(half|\d+ %) of the calls fail with 503 at any rate$/;
        // Where four of five calls fail, few are accepted, so that it takes longer.
        if (noise < 0.8) expect(seconds[20]?.pace?.reason).toMatch(reason);
        expect(seconds.at(-1)?.pace?.reason).toMatch(reason);
        expect(seconds.filter(({ pace }) => pace?.refuses503)).toEqual([]);
      }
    },
  );

  test.each([2, 3])('do not hold the rate of %d workers down', (workers) => {
    const seconds = played({ limit: 'none', noise: 0.5, workers, seconds: 90, capacity: 300 });
    expect(last(seconds)).toBeGreaterThan(100);
  });

  test.each([
    ['after an outage', 1],
    ['after fewer of them', 0.2],
  ])('are recognized when they come %s (%d)', (_title, noise) => {
    for (const seed of seeds) {
      const world: World = { limit: 'none', noise, noisy: [10, 30], laterNoise: 0.5, seed, seconds: 200 };
      expect(perSecond(played({ ...world, capacity: 300 }).slice(150))).toBeGreaterThan(100);
    }
  });

  test.each([0.5, 0.2])('(%d of them) do not hide a limit', (noise) => {
    const games = seeds.map((seed) => played({ limit: bucket, noise, seed, seconds: 120 }));
    expect(Math.min(...games.map(last))).toBeGreaterThan(40);
    const sent = games.flatMap((seconds) =>
      seconds.slice(60).map(({ accepted, rejected }) => accepted + rejected),
    );
    expect(Math.max(...sent)).toBeLessThan((2.5 * 50) / (1 - noise));
  });

  test.each([0.5, 0.2])('(%d of them) stay in doubt where a limit also answers 503', (noise) => {
    for (const seed of seeds) {
      const seconds = played({ limit: bucket, limitStatus: 503, noise, seed, seconds: 120 });
      expect(seconds.filter(({ pace }) => pace?.refuses503)).toEqual([]);
      // The outcome of a refusal by the limit is not counted again at the lower rate.
      expect(last(seconds)).toBeGreaterThan(40);
    }
  });

  test('are forgotten when they stop', () => {
    const seconds = played({ limit: bucket, noise: 0.5, noisy: [0, 60], seconds: 180 });
    expect(total(seconds.slice(120), 'rejected')).toBeLessThan(30);
  });

  test.each([
    'token-bucket:rate=50,burst=10 then 40s token-bucket:rate=5,burst=5',
    'token-bucket:rate=500,burst=100 then 40s token-bucket:rate=50,burst=5',
    'fixed-window:limit=600,window=1m',
    'sliding-window:limit=50,window=1s',
    'concurrency:limit=3',
  ])('are distinguished from those of %s', (limit) => {
    for (const seed of seeds) {
      const seconds = played({ limit, seed, seconds: 120 });
      expect(seconds.at(-1)?.pace?.reason, `seed ${seed}`).not.toContain('at any rate');
      expect(total(seconds.slice(90), 'rejected')).toBeLessThan(30);
    }
  });
});

describe('a limit that answers 503', () => {
  /** As a share of what is possible from the first second. */
  const usedOf = (world: Partial<World>, limitStatus: 429 | 503) => {
    const found = seeds.map((seed) =>
      figures({ limit: bucket, ...world, limitStatus, seed, seconds: 70 }, { judged: [0, 70] }),
    );
    expect(Math.max(...found.map(({ rejected }) => rejected))).toBeLessThan(0.01);
    return average(found.map(({ used }) => used));
  };

  test.each([1, 3])('costs hardly anything when %d workers have held it before', (workers) => {
    const world = { known: { limit: 50 }, workers };
    // 90 % is called for 1.5 s: 8 of 3,500 calls are lost.
    expect(usedOf(world, 503)).toBeGreaterThan(usedOf(world, 429) - 0.005);
  });

  test('is found within a few dozen refusals, and only these leave their rows in doubt', () => {
    for (const seed of seeds) {
      const seconds = played({ limit: bucket, limitStatus: 503, seed, seconds: 60 });
      expect(total(seconds, 'doubtful')).toBeLessThan(50);
      expect(seconds.slice(10).every(({ pace }) => pace?.refuses503)).toBe(true);
    }
  });

  test('by the minute is not called over and over when its first window is used up', () => {
    for (const seed of seeds) {
      const world: World = { limit: 'fixed-window:limit=600,window=1m', limitStatus: 503, seed, seconds: 60 };
      expect(total(played(world), 'rejected')).toBeLessThan(300);
    }
  });
});

// A trial of a lower rate shows that accidents of 1 % are not due to the limit; all trials together may cost a tenth.
test.each([429, 503] as const)(
  'refusals at any rate (one of 100, with %s) leave most of a limit with the same answer in use',
  (status) => {
    const world: World = {
      limit: bucket,
      limitStatus: status,
      noise: 0.01,
      noiseStatus: status,
      seconds: 310,
    };
    expect(overSeeds(world, 'used')).toBeGreaterThan(0.9);
  },
);

test.each(seeds)(
  'single 429s do not make three workers take a limit of 503s for accidents (seed %d)',
  (seed) => {
    const world: World = {
      limit: bucket,
      limitStatus: 503,
      noise: 0.01,
      noiseStatus: 429,
      workers: 3,
      seed,
      seconds: 190,
    };
    // A trial of calls in flight, during which no rate is kept, must not run while two rates are compared.
    expect(figures(world).rejected).toBeLessThan(0.05);
  },
);

describe('with Retry-After in whole seconds', () => {
  test.each([bucket, 'token-bucket:rate=100,burst=20'])('%s is well used', (limit) => {
    const found = figures({ limit, seconds: 310, retryAfter: true });
    expect(found.used).toBeGreaterThan(0.94);
    expect(found.rejected).toBeLessThan(0.005);
  });

  test.each([
    'fixed-window:limit=600,window=1m',
    'sliding-window:limit=600,window=1m',
    'fixed-window:limit=6000,window=1m',
  ])('%s is spread over its window once two ends are known', (limit) => {
    for (const seed of seeds) {
      const found = figures({ limit, seconds: 360, retryAfter: true, seed }, { judged: [60, 360] });
      expect(found.used).toBeGreaterThan(0.97);
      expect(found.rejected).toBeLessThan(0.005);
    }
  });

  test('a limit that rises tenfold is in use within 40 s', () => {
    const limit = 'token-bucket:rate=50,burst=10 then 65s token-bucket:rate=500,burst=100';
    const found = figures({ limit, seconds: 140, retryAfter: true }, { risesAt: 65 });
    expect(found.risenAfter).toBeLessThanOrEqual(40);
  });

  test.each([50, 300])(
    'a limit that drops to a fifth is kept within seconds, calls of %d ms',
    (latencyMs) => {
      const limit = 'token-bucket:rate=100,burst=20 then 30s token-bucket:rate=20,burst=5';
      const found = figures({ limit, seconds: 90, retryAfter: true, latencyMs }, { dropsAt: 30 });
      expect(found.droppedAfter).toBeLessThanOrEqual(10);
    },
  );
});

describe('with headers', () => {
  test.each<[limit: string, headers: NonNullable<World['headers']>]>([
    [bucket, 'ratelimit'],
    ['fixed-window:limit=50,window=1s', 'ratelimit'],
    ['sliding-window:limit=50,window=1s', 'ratelimit'],
    ['concurrency:limit=10', 'ratelimit'],
    ['fixed-window:limit=600,window=1m', 'ratelimit'],
    ['fixed-window:limit=600,window=1m', 'x-ratelimit'],
    ['fixed-window:limit=600,window=1m', 'ratelimit-fields'],
  ])('%s is never exceeded when %s state it', (limit, headers) => {
    const found = figures({ limit, headers, seconds: 180 }, { judged: [60, 180] });
    expect(found.used).toBeGreaterThan(0.965);
    expect(found.rejected).toBeLessThan(0.001);
  });
});

test.each<[headers: NonNullable<World['headers']>, limit: string, rate: number]>([
  ['ratelimit', bucket, 50],
  ['ratelimit', 'token-bucket:rate=500,burst=100', 500],
  ['ratelimit', 'fixed-window:limit=500,window=1s', 500],
  ['ratelimit', 'fixed-window:limit=30000,window=1m', 500],
  ['ratelimit-fields', 'fixed-window:limit=30000,window=1m', 500],
  ['x-ratelimit', 'fixed-window:limit=30000,window=1m', 500],
])('%s states the rate of %s, which is in use after a second', (headers, limit, rate) => {
  for (const workers of [1, 3])
    for (const seed of seeds) {
      const found = played({ limit, headers, workers, seed, seconds: 10 });
      expect(found[1]?.accepted, `${workers} workers, seed ${seed}`).toBeGreaterThan(0.93 * rate);
      expect(total(found, 'rejected')).toBe(0);
    }
});

describe('a limit by the minute, when the rest of a window is enough for the rows that are left,', () => {
  const told: readonly [title: string, told: Partial<World>][] = [
    ['Retry-After', { retryAfter: true }],
    ['RateLimit', { headers: 'ratelimit' }],
    ['X-RateLimit', { headers: 'x-ratelimit' }],
  ];
  const slow = { limit: 'fixed-window:limit=1500,window=1m', capacity: 40 };
  /** The seconds until the last row. */
  const untilLast = ({ rows, ...world }: World & { readonly rows: number }) => {
    const seconds = played({ ...world, rows });
    const last = seconds.findIndex((_, second) => total(seconds.slice(0, second + 1), 'accepted') >= rows);
    expect(last).toBeGreaterThanOrEqual(0);
    return seconds.slice(0, last + 1);
  };
  /** How long the rows take, on a machine that makes 40 calls a second. */
  const secondsFor = (world: Partial<World> & { readonly rows: number }) =>
    untilLast({ ...slow, seconds: 200, ...world }).length - 1;

  test.each(told)('is not spread over it (%s)', (_title, world) => {
    for (const seed of seeds) {
      // In the second window 1,100 rows in 28 s, in the third 500 in 13 s.
      expect(secondsFor({ ...world, seed, rows: 2_600 })).toBeLessThanOrEqual(60 + 31);
      expect(secondsFor({ ...world, workers: 3, seed, rows: 3_500 })).toBeLessThanOrEqual(120 + 16);
    }
  });

  test.each(told.slice(1))('is not spread from the first call (%s)', (_title, world) => {
    for (const seed of seeds)
      expect(secondsFor({ ...world, seed, rows: 500, capacity: 1_000 })).toBeLessThanOrEqual(4);
  });

  test('is not spread over it without headers, and refusals of a sliding window spread it again', () => {
    const secondsAt = (limit: string, seed: number) =>
      untilLast({ limit, seed, seconds: 320, rows: 1_500, capacity: 1_000 });
    // The first window refuses up to 60 calls before it is known.
    const refusedIn = (seconds: Seconds) => total(seconds.slice(70), 'rejected');
    for (const seed of seeds) {
      const fixed = secondsAt('fixed-window:limit=600,window=1m', seed);
      expect(fixed.length - 1).toBeLessThanOrEqual(120 + 6);
      const sliding = secondsAt('sliding-window:limit=600,window=1m', seed);
      expect(Math.max(refusedIn(fixed), refusedIn(sliding))).toBeLessThanOrEqual(5);
    }
  });

  test('is used by each of many windows, wherever in the first one the run begins', () => {
    // Nine windows have 5,000 calls, of which the first is nearly over at 45 s.
    for (const [startAt, seconds] of [
      [0, 480],
      [20_000, 460],
      [45_000, 435],
    ] as const)
      for (const seed of seeds) {
        const limit = 'fixed-window:limit=600,window=1m';
        const world = { limit, startAt, seed, seconds: 700, rows: 5_000, capacity: 1_000 };
        expect(untilLast(world).length - 1).toBeLessThanOrEqual(seconds + 6);
      }
  });

  test.each([10, 15, 20, 30, 60])(
    'is used by each window of %d s without headers, wherever in the minute the run begins',
    (length) => {
      const rows = 2_000;
      for (const startAt of [0, 7, 20, 45, 52])
        for (const seed of [1, 2, 3]) {
          const limit = `fixed-window:limit=${10 * length},window=${length}s`;
          const world = { limit, startAt: startAt * 1_000, seed, seconds: 600, rows, capacity: 1_000 };
          // The last window begins a window later, because a percent of the calls is lost.
          const seconds = Math.ceil(rows / (10 * length)) * length - (startAt % length);
          expect(untilLast(world).length - 1, `${startAt} s, seed ${seed}`).toBeLessThanOrEqual(seconds + 6);
        }
    },
  );

  // Three windows of 15 s are used up, and the fourth is called at once.
  test.each(['ratelimit', 'ratelimit-fields', 'x-ratelimit'] as const)(
    'is called at once after whole windows of 15 s (%s)',
    (headers) => {
      const limit = 'fixed-window:limit=100,window=15s';
      for (const seed of seeds)
        for (const [startAt, seconds] of [
          [0, 48],
          [7_000, 41],
        ] as const) {
          const world = { limit, headers, startAt, seed, seconds: 90, rows: 400, capacity: 1_000 };
          const called = untilLast(world);
          expect(called.length, `seed ${seed}`).toBeLessThanOrEqual(seconds);
          // In its last second the client continues to call after the last row.
          expect(total(called.slice(0, -1), 'rejected'), `seed ${seed}`).toBe(0);
        }
    },
  );

  test.each(told)('is spread until then (%s)', (_title, world) => {
    const seconds = played({ ...slow, seconds: 100, rows: 6_000, ...world });
    expect(Math.max(...seconds.slice(65).map(({ accepted }) => accepted))).toBeLessThan(30);
  });
});

describe('503s that ask to wait for a second', () => {
  // Each of them costs a second: for an API without a limit, a quarter of 300 calls/s remains.
  test.each<[limit: string, least: number]>([
    ['none', 60],
    [bucket, 25],
  ])(
    'do not lower the rate further and further when one in a hundred calls meets one, at any rate (%s)',
    (limit, least) => {
      for (const seed of seeds) {
        const seconds = played({ limit, noise: 0.01, noiseWaits: true, capacity: 300, seed, seconds: 100 });
        expect(perSecond(seconds.slice(40))).toBeGreaterThan(least);
      }
    },
  );

  test('keep the rate below a limit that answers so', () => {
    for (const seed of seeds) {
      const found = figures({ limit: bucket, limitStatus: 503, retryAfter: true, seed, seconds: 100 });
      expect(found.used).toBeGreaterThan(0.9);
      expect(found.rejected).toBeLessThan(0.01);
    }
  });
});

test('an API that states its limit and fails every call for 20 s is hardly called meanwhile', () => {
  for (const seed of seeds) {
    const world: World = {
      limit: bucket,
      headers: 'ratelimit',
      noise: 1,
      noisy: [20, 40],
      seed,
      seconds: 50,
    };
    expect(total(played(world), 'rejected')).toBeLessThan(200);
  }
});

test.each<[trouble: string, world: Partial<World>, from: number, used: number]>([
  [
    'answers state twice as much',
    { headers: 'ratelimit', retryAfter: true, statedLimit: 'token-bucket:rate=100,burst=20' },
    10,
    0.91,
  ],
  ['nothing is answered for ten seconds', { stalls: [60, 70] }, 80, 0.98],
  ['others use 20/s of it for a minute', { others: { perSecond: 20, during: [60, 120] } }, 70, 0.86],
  ['calls take a second', { latencyMs: 1_000 }, 10, 0.93],
  ['workers may make 50, 5 and 1 calls in flight', { workers: 3, slowWorkers: [50, 5, 1] }, 10, 0.94],
])('a limit of 50/s is found and kept where %s', (_trouble, world, from, used) => {
  for (const seed of seeds) {
    const found = figures({ limit: bucket, seconds: 190, ...world, seed }, { judged: [from, 190] });
    expect(found.used).toBeGreaterThan(used);
    expect(found.rejected).toBeLessThan(0.02);
  }
});

describe('a daily quota', () => {
  // From 22:00: 100 calls are left for two hours.
  const world: World = {
    limit: 'daily-quota:limit=100',
    seconds: 2 * hour + 60,
    startAt: 22 * hour * 1_000,
    retryAfter: true,
  };

  test('is used at once, waited for, and used at once again', () => {
    const seconds = played(world);
    const calls = (from: number, to: number) =>
      total(seconds.slice(from, to), 'accepted') + total(seconds.slice(from, to), 'rejected');
    expect(calls(0, 10)).toBeGreaterThanOrEqual(100);
    expect(calls(10, 2 * hour)).toBe(0);
    expect(seconds[hour]?.pace).toMatchObject({ phase: 'waiting', reason: 'the API asks to wait' });
    expect(calls(2 * hour, 2 * hour + 20)).toBeGreaterThanOrEqual(100);
  });

  test('is not even tried when it is known to be used up', () => {
    const seconds = played({ ...world, headers: 'x-ratelimit', retryAfter: false });
    expect(total(seconds, 'rejected')).toBe(0);
    expect(seconds.slice(60, 2 * hour).every(({ accepted }) => accepted === 0)).toBe(true);
  });
});

describe('a client', () => {
  const limit = bucket;
  const fewest = (seconds: Seconds) => Math.min(...seconds.map(({ accepted }) => accepted));

  test('is back at its rate at once after a time with nothing to call', () => {
    const seconds = played({ limit, seconds: 120, idle: [40, 100] });
    expect(seconds[99]?.pace?.limit).toBe(seconds[41]?.pace?.limit);
    // A later refusal leads to a trial of calls in flight, which costs some calls.
    expect(fewest(seconds.slice(101, 110))).toBeGreaterThan(38);
  });

  test.each([5, 500])('forgets quickly a limit of %d calls/s', (rate) => {
    const seconds = played({ limit, seconds: 40, known: { limit: rate } });
    expect(fewest(seconds.slice(20, 40))).toBeGreaterThan(38);
    expect(total(seconds.slice(10), 'rejected')).toBeLessThan(15);
  });

  test('is not limited where the API has no limit', () => {
    expect(figures({ limit: 'none', seconds: 60, capacity: 500 }).used).toBeGreaterThan(0.98);
  });

  test('has no more calls in flight than a slow server needs', () => {
    const server = { threads: 20, serviceMs: 200 };
    const world: World = { limit: 'none', seconds: 90, server, latencyMs: 10 };
    expect(figures(world).used).toBeGreaterThan(0.95);
    const found = [1, 2, 3, 4].map((seed) => played({ ...world, seed }).at(-1)?.pace?.concurrency ?? 0);
    expect(average(found)).toBeLessThan(80);
  });
});

describe.each([2, 3])('%d workers, which learn about each other late,', (workers) => {
  test('know from the first 503 how many calls were in flight when it was refused', () => {
    for (const seed of seeds) {
      const world: World = { limit: 'concurrency:limit=3', limitStatus: 503, workers, seed, seconds: 190 };
      // A cap that is taken for a rate is used to three quarters.
      expect(figures(world).used).toBeGreaterThan(0.95);
    }
  });

  test.each<[limit: string, used: number]>([
    [bucket, 0.96],
    ['token-bucket:rate=500,burst=100', 0.96],
    ['fixed-window:limit=50,window=1s', 0.95],
    ['sliding-window:limit=50,window=1s', 0.94],
    ['concurrency:limit=3', 0.95],
    ['concurrency:limit=10', 0.95],
  ])('use %s nearly as well as one', (limit, used) => {
    const found = figures({ limit, seconds: 190, workers });
    expect(found.used).toBeGreaterThan(used);
    expect(found.rejected).toBeLessThan(0.01);
  });

  test.each(['token-bucket:rate=25,burst=10', 'fixed-window:limit=25,window=1s'])(
    'find %s within ten seconds and four dozen refusals',
    (limit) => {
      for (const seed of seeds)
        for (const latencyMs of [10, 50]) {
          const found = played({ limit, workers, seed, latencyMs, seconds: 20 });
          expect(total(found.slice(0, 10), 'rejected')).toBeLessThanOrEqual(48);
          expect(perSecond(found.slice(10))).toBeGreaterThan(0.8 * 25);
        }
    },
  );

  test('keep a limit that drops to a fifth within seconds', () => {
    const limit = 'token-bucket:rate=100,burst=20 then 30s token-bucket:rate=20,burst=5';
    const after = played({ limit, seconds: 90, workers }).slice(35);
    // One refusal for each probe.
    expect(total(after, 'rejected')).toBeLessThanOrEqual(10);
  });

  test('hardly ever exceed what headers state', () => {
    const limit = 'fixed-window:limit=50,window=1s';
    const found = figures({ limit, headers: 'ratelimit', seconds: 190, workers });
    expect(found.used).toBeGreaterThan(0.97);
    expect(found.rejected).toBeLessThan(0.001);
  });
});
