import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { StartingPoint } from '../../../../src/domain/pace.ts';
import type { StatedLimit } from '../../../../src/engine/api/limits.ts';
import { mostConcurrency as most } from '../../../../src/engine/rate/governor/concurrency-limit.ts';
import { Governor } from '../../../../src/engine/rate/governor/governor.ts';
import type { Traffic } from '../../../../src/engine/rate/governor/traffic.ts';
import { nothing } from './no-traffic.ts';

const begin = 1_800_057_600_000;
const second = 1_000;
const day = 86_400 * second;

interface GovernorOptions {
  readonly bound?: number;
  readonly known?: StartingPoint;
}

function governor({ bound, known }: GovernorOptions = {}): Governor {
  const governed = new Governor(begin, known);
  governed.bound = bound;
  return governed;
}

type GovernedPace = ReturnType<Governor['update']>;

/** Reports the same traffic every 100 ms. */
function repeat(governed: Governor, from: number, ms: number, traffic: Traffic): GovernedPace {
  let pace = governed.update(from, traffic);
  for (let now = from + 100; now <= from + ms; now += 100) pace = governed.update(now, traffic);
  return pace;
}

/** Makes all calls that the pace allows; all of them are accepted. */
function befriend(
  governed: Governor,
  from: number,
  until: (pace: GovernedPace) => boolean,
  maxMs: number,
): GovernedPace {
  let pace = governed.update(from, nothing);
  let calls = 0;
  for (let now = from + 100; now <= from + maxMs; now += 100) {
    if (until(pace)) return pace;
    if (pace.restUntil !== undefined && pace.restUntil > now) {
      now = Math.max(now, Math.min(pace.restUntil, from + maxMs - 100));
      pace = governed.update(now, nothing);
      continue;
    }
    calls += pace.rate / 10;
    const accepted = Math.floor(Math.min(calls, 1_000));
    calls -= accepted;
    pace = governed.update(now, { ...nothing, accepted, durationMs: 50 * accepted });
  }
  return pace;
}

const count = fc.nat({ max: 1_000 });
const whole = (max: number, min = 0) =>
  fc.oneof(fc.integer({ min, max: 5 }), fc.integer({ min, max }), fc.constant(max));
const some = <Value>(key: string, value: fc.Arbitrary<Value>) =>
  fc.option(value, { nil: undefined }).map((known) => (known === undefined ? {} : { [key]: known }));

const statedLimit: fc.Arbitrary<StatedLimit> = fc
  .tuple(
    fc.constantFrom('one', 'two'),
    fc.constantFrom('requests' as const, 'concurrent-requests' as const),
    some('quota', whole(1e9, 1)),
    some('remaining', whole(1e9)),
    some('windowMs', whole(366 * day, 1)),
    some('resetMs', whole(366 * day)),
  )
  .map(([name, unit, ...parts]) => Object.assign({ name, unit }, ...parts) as StatedLimit);

const traffic: fc.Arbitrary<Traffic> = fc
  .tuple(
    fc.record({
      accepted: count,
      rejected: fc.oneof(fc.constant(0), count),
      durationMs: fc.nat({ max: 1e7 }),
      active: fc.nat({ max: most }),
      stated: fc.array(statedLimit, { maxLength: 3 }),
    }),
    some('unavailable', count),
    some('rejectedWith', fc.constantFrom(429, 503)),
    some('rejectedSentAt', fc.nat({ max: 10_000 })),
    some('waitUntil', fc.oneof(fc.nat({ max: 10_000 }), fc.nat({ max: 1e12 }))),
    some('acceptedAmong', fc.integer({ min: 1, max: most })),
    some('rejectedAmong', fc.integer({ min: 1, max: most })),
    some('amongError', fc.nat({ max: 3 })),
  )
  .map((parts) => Object.assign({}, ...parts) as Traffic);

const history = fc.array(
  fc.record({ afterMs: fc.oneof(fc.integer({ min: 0, max: 500 }), fc.nat({ max: day })), traffic }),
  { maxLength: 60 },
);
const restUntil = fc.nat({ max: 2 * day }).map((ms) => begin + ms);
const options = fc
  .tuple(
    some('bound', fc.double({ min: 0.01, max: 1e6, noNaN: true })),
    some(
      'known',
      fc.record({ limit: fc.double(), concurrency: fc.double(), restUntil }, { requiredKeys: [] }),
    ),
  )
  .map((parts) => Object.assign({}, ...parts) as GovernorOptions);

/** Every pace of the governor in the course of a history, with its time. */
function replay(governed: Governor, events: readonly { afterMs: number; traffic: Traffic }[]) {
  let now = begin;
  return events.map(({ afterMs, traffic }) => {
    now += afterMs;
    const { waitUntil, rejectedSentAt } = traffic;
    const pace = governed.update(now, {
      ...traffic,
      ...(waitUntil !== undefined && { waitUntil: now + waitUntil }),
      ...(rejectedSentAt !== undefined && { rejectedSentAt: now - rejectedSentAt }),
    });
    return { now, pace };
  });
}

describe('in any sequence of events', () => {
  test.each<[string, (pace: GovernedPace, now: number, options: GovernorOptions) => boolean]>([
    [
      'the rate is positive and never above the bound',
      ({ rate }, _now, { bound = Number.MAX_VALUE }) => rate > 0 && rate <= bound,
    ],
    [
      'the calls in flight are whole, at least one, and never more than are allowed',
      ({ concurrency }) => Number.isInteger(concurrency) && concurrency >= 1 && concurrency <= most,
    ],
    [
      'no rest is longer than a day or already over',
      ({ restUntil }, now) => restUntil === undefined || (restUntil > now && restUntil <= now + day),
    ],
  ])('%s', (_claim, holds) => {
    fc.assert(
      fc.property(options, history, (options, events) =>
        replay(governor(options), events).every(({ now, pace }) => holds(pace, now, options)),
      ),
      { numRuns: 200 },
    );
  });

  test('an API that accepts calls again is soon called quickly again', () => {
    fc.assert(
      fc.property(options, history, ({ bound: _, ...options }, events) => {
        const governed = governor(options);
        const last = replay(governed, events).at(-1)?.now ?? begin;
        // A rest may take a day, and the slowest rate needs an hour to show that more is accepted.
        const pace = befriend(
          governed,
          last + 100,
          ({ rate, restUntil }) => rate > 10 && restUntil === undefined,
          26 * 3_600 * second,
        );
        expect(pace.rate).toBeGreaterThan(10);
      }),
      { numRuns: 4, endOnFailure: true },
    );
  });
});

describe('a bound', () => {
  test('holds for a limit that is known, and for what the API states, and may change at any time', () => {
    const governed = governor({ bound: 5, known: { limit: 100 } });
    const stated: StatedLimit[] = [{ name: 'one', unit: 'requests', quota: 1_000, windowMs: second }];
    expect(repeat(governed, begin, second, { ...nothing, accepted: 1, stated }).rate).toBe(5);
    governed.bound = 2;
    expect(governed.update(begin + 2 * second, nothing).rate).toBe(2);
    governed.bound = undefined;
    const pace = befriend(governed, begin + 3 * second, ({ rate }) => rate > 10, 30 * second);
    expect(pace.rate).toBeGreaterThan(10);
  });
});

describe('a wait', () => {
  test('from an earlier run is tried by single calls after five minutes', () => {
    const governed = governor({ known: { restUntil: begin + 3_600 * second } });
    expect(governed.update(begin, nothing).restUntil).toBe(begin + 300 * second);
    const pace = repeat(governed, begin, 300 * second, nothing);
    expect(pace).toMatchObject({ phase: 'waiting', rate: 1 });
    expect(pace.restUntil).toBeUndefined();
  });

  test.each<[string, Partial<Traffic>]>([
    ['asked for', { rejected: 1, rejectedWith: 429, waitUntil: begin + 3_600 * second, waitBy: 'by' }],
    [
      'stated',
      {
        accepted: 1,
        durationMs: 50,
        stated: [{ name: 'one', unit: 'requests', remaining: 0, resetMs: 3_600 * second, resetBy: 'by' }],
      },
    ],
  ])('that is %s says what asks for it, and can be cut short', (_, traffic) => {
    const governed = governor();
    const rested = governed.update(begin, { ...nothing, ...traffic });
    expect(rested).toMatchObject({ restUntil: begin + 3_600 * second, restBy: 'by' });
    governed.testBy(begin, begin + 60 * second);
    expect(governed.update(begin + second, nothing).restUntil).toBe(begin + 60 * second);
    expect(governed.update(begin + 60 * second, nothing).restUntil).toBeUndefined();
  });
});

describe('what the API states', () => {
  const limit = (parts: Partial<StatedLimit>): readonly StatedLimit[] => [
    { name: 'one', unit: 'requests', ...parts },
  ];
  const told = (stated: readonly StatedLimit[]) => ({ ...nothing, accepted: 1, durationMs: 50, stated });

  test('is not believed for a while when calls are refused in spite of it', () => {
    const governed = governor();
    const stated = limit({ quota: 100, windowMs: second });
    repeat(governed, begin, 5 * second, { ...told(stated), accepted: 10, durationMs: 500 });
    let pace = governed.update(begin + 6 * second, told(stated));
    expect(pace.phase).toBe('stated');
    for (let now = begin + 7 * second; now < begin + 15 * second; now += second) {
      pace = governed.update(now, { ...told(stated), rejected: 3, rejectedSentAt: now - 50 });
    }
    expect(pace.phase).not.toBe('stated');
  });
});

describe('what is known from before', () => {
  test.each([Number.NaN, 0, -5, Number.POSITIVE_INFINITY])('is forgotten when it is %s', (rate) => {
    const pace = governor({ known: { limit: rate, concurrency: rate } }).update(begin, nothing);
    expect(pace).toMatchObject({ rate: 20, concurrency: 50, phase: 'starting' });
  });

  test('is brought down to what can be sent, so that sums of it stay finite', () => {
    const pace = governor({ known: { limit: Number.MAX_VALUE } }).update(begin, nothing);
    expect(pace.limit).toBe(1_000_000);
  });
});
