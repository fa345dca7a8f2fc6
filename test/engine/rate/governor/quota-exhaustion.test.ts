import { expect, test } from 'vitest';
import { QuotaExhaustion } from '../../../../src/engine/rate/governor/quota-exhaustion.ts';

test('a quota of hours gives no rate to spread calls at', () => {
  const minute = 60_000;
  const begin = 30_000_000 * minute;
  const exhaustion = new QuotaExhaustion(begin);
  exhaustion.begin(begin + minute);
  const until = begin + 180 * minute;
  for (let at = begin + minute; at < until; ) at = exhaustion.nextTest(at, at);
  expect(exhaustion.end(until, 5_000)).toEqual({ lastedMs: 179 * minute });
  expect(exhaustion.periodMs).toBeUndefined();
});

test('windows of an hour are known after two ends', () => {
  const { exhaustion, rate } = played([
    [1_800, 3_600, 5_000],
    [5_400, 7_200, 10_000],
  ]);
  expect(rate).toBeUndefined();
  expect(exhaustion.remainingCalls(30_000_120 * 60_000, 10_000)).toBe(0);
});

/** Plays times in which nothing is accepted, from and to, in seconds after a full minute; each follows an accepted count. */
function played(dry: readonly (readonly [from: number, to: number, accepted: number])[]) {
  const minute = 60_000;
  const begin = 30_000_000 * minute;
  const exhaustion = new QuotaExhaustion(begin);
  const ends = dry.map(([from, to, accepted]) => {
    const [since, until] = [begin + from * 1_000, begin + to * 1_000];
    exhaustion.begin(since);
    for (let at = since; at < until; ) at = exhaustion.nextTest(at, at);
    return exhaustion.end(until, accepted);
  });
  return { exhaustion, rate: ends.at(-1)?.perSecond, end: begin + (dry.at(-1)?.[1] ?? 0) * 1_000 };
}

test.each<[what: string, dry: Parameters<typeof played>[0]]>([
  [
    'windows that end one after the other',
    [
      [2, 60, 600],
      [58, 120, 1_200],
    ],
  ],
  [
    'windows between, of which none was used up',
    [
      [2, 60, 600],
      [236, 240, 2_400],
    ],
  ],
  [
    'windows between, which were used up in their last moments',
    [
      [2, 60, 600],
      [118, 120, 1_200],
      [236, 240, 2_400],
    ],
  ],
])('a window that is known stays known: %s', (_, dry) => {
  const { exhaustion, rate, end } = played(dry);
  expect(exhaustion.periodMs).toBe(60_000);
  expect(rate).toBeCloseTo(10, 0);
  expect(exhaustion.remainingCalls(end, dry.at(-1)?.[2] ?? 0)).toBeCloseTo(600, -1);
});

test.each<[length: number, dry: Parameters<typeof played>[0], windowMs: number]>([
  [
    30,
    [
      [48, 60, 300],
      [75, 90, 600],
    ],
    30_000,
  ],
  [
    20,
    [
      [9, 20, 200],
      [35, 40, 400],
    ],
    20_000,
  ],
  [
    60,
    [
      [2, 60, 600],
      [356, 360, 3_550],
    ],
    60_000,
  ],
])(
  'windows of %d s are known after two ends, though the first one ends with a minute or late',
  (_, dry, windowMs) => {
    const { exhaustion, rate } = played(dry);
    expect(exhaustion.periodMs).toBe(windowMs);
    expect(rate).toBeCloseTo(10, 0);
  },
);

test('a wait that the API asks for leaves only the rounding of its seconds open', () => {
  const begin = 30_000_000 * 60_000;
  const exhaustion = new QuotaExhaustion(begin);
  for (const [from, to, accepted] of [
    [5, 60, 600],
    [65, 120.4, 1_200],
    [125, 180.2, 1_800],
  ] as const) {
    exhaustion.begin(begin + from * 1_000);
    exhaustion.statedEnd(begin + to * 1_000);
    exhaustion.end(begin + to * 1_000, accepted);
  }
  // Any length from 5 s would fit a wait during which nothing is known.
  expect(exhaustion.periodMs).toBe(60_000);
});
