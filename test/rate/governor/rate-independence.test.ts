import { describe, expect, test } from 'vitest';
import { RateIndependence } from '../../../src/rate/governor/rate-independence.ts';
import type { Traffic } from '../../../src/rate/governor/traffic.ts';

const beatMs = 100;
const nothing: Traffic = { accepted: 0, rejected: 0, durationMs: 0, active: 0, stated: [] };

/** What an API does with so many calls, of which it has had so many before. */
type Api = (calls: number, before: number) => Partial<Traffic>;

/** Every so many calls, evenly, one fails with 503. */
const failing =
  (every: number): Api =>
  (calls, before) => {
    const failed = Math.floor((before + calls) / every) - Math.floor(before / every);
    return { accepted: calls - failed, unavailable: failed };
  };
/** So many calls per beat are accepted, others fail with 503. */
const limited =
  (perBeat: number): Api =>
  (calls) => {
    const accepted = Math.min(calls, perBeat);
    return { accepted, unavailable: calls - accepted };
  };
const nobody: Api = (calls) => ({ unavailable: calls });

/** A search that calls at a rate that it does not change, and what it is told. */
function searching(rate: number) {
  const independence = new RateIndependence();
  let now = 0;
  let calls = 0;
  let owed = 0;
  const rates: number[] = [];
  const told: Traffic[] = [];
  return {
    independence,
    /** The rates that were called at. */
    rates,
    told,
    go(seconds: number, api: Api): void {
      for (const end = now + seconds * 1_000; now < end; ) {
        now += beatMs;
        const paced = independence.paced(rate, Number.POSITIVE_INFINITY);
        rates.push(paced);
        owed += (paced * beatMs) / 1_000;
        const sent = Math.floor(owed);
        owed -= sent;
        const met = { ...nothing, ...api(sent, calls) };
        calls += sent;
        // As the meter counts: what is tolerated is accepted.
        const { unavailable = 0 } = met;
        const key = independence.tolerates503 ? 'accepted' : 'rejected';
        const traffic = {
          ...met,
          [key]: met[key] + unavailable,
          ...(key === 'rejected' && { rejectedWith: 503 }),
        };
        told.push(independence.update(traffic, { now, passedMs: beatMs, reactionMs: 100 }, rate));
      }
    },
  };
}

describe('503s that come at any rate', () => {
  test.each([
    ['half', 2],
    ['a fifth', 5],
    ['a tenth', 10],
  ])('(%s) are known within half a minute, and the search hears of none', (_title, every) => {
    const { independence, told, go } = searching(20);
    go(30, failing(every));
    expect(independence.share).toBeCloseTo(1 / every, 1);
    expect(told.filter(({ rejected }) => rejected > 0)).toEqual([]);
    expect(independence.tolerates503).toBe(true);
  });

  test('are compared at the present rate and a quarter of it', () => {
    const { rates, go } = searching(20);
    go(20, failing(2));
    expect(new Set(rates)).toEqual(new Set([20, 5]));
    expect(rates.at(-1)).toBe(20);
  });

  test('are compared where only a part of the rate is used', () => {
    const { independence, rates, go } = searching(80);
    go(20, (calls, before) => failing(2)(Math.min(calls, 2), before));
    expect(independence.share).toBeCloseTo(0.5, 1);
    expect(Math.min(...rates)).toBe(5);
  });

  test('are compared at no less than a call a second', () => {
    const { independence, rates, go } = searching(0.1);
    go(60, failing(2));
    expect(independence.share).toBeCloseTo(0.5, 1);
    const compared = rates.filter((rate) => rate !== 0.1);
    expect([Math.max(...compared), Math.min(...compared)]).toEqual([4, 1]);
  });

  test('are forgotten when none comes any more', () => {
    const { independence, go } = searching(20);
    go(20, failing(2));
    go(10, failing(Number.POSITIVE_INFINITY));
    expect(independence.share).toBeUndefined();
    expect(independence.tolerates503).toBe(false);
  });

  test('are known anew when they become more', () => {
    const { independence, go } = searching(20);
    go(20, failing(5));
    go(80, failing(2));
    expect(independence.share).toBeCloseTo(0.5, 1);
  });
});

describe('503s of a limit', () => {
  test.each([
    ['below a quarter of the rate', 4, limited(1)],
    ['near the rate', 4, limited(3)],
  ])('%s are refusals after the comparison', (_title, perBeat, api) => {
    const { independence, told, go } = searching(10 * perBeat);
    go(20, api);
    expect(independence.share).toBeUndefined();
    expect(told.at(-1)?.rejected).toBeGreaterThan(0);
  });

  test('are not compared again for a minute', () => {
    const { independence, go } = searching(40);
    go(30, limited(1));
    for (let second = 30; second < 55; second += 1) {
      go(1, limited(1));
      expect(independence.isComparing).toBe(false);
    }
  });

  test('count on top of those that come at any rate', () => {
    const { independence, told, go } = searching(40);
    go(20, failing(5));
    go(10, limited(1));
    expect(told.at(-1)?.rejected).toBeGreaterThan(0);
    expect(independence.share).toBeLessThan(0.3);
  });
});

test('an API that answers nothing but 503 is not compared for long', () => {
  const { independence, rates, go } = searching(20);
  go(5, nobody);
  expect([independence.isComparing, independence.share]).toEqual([false, undefined]);
  expect(new Set(rates)).toEqual(new Set([20]));
});

test.each<[string, Partial<Traffic>]>([
  ['a 429', { rejected: 1, rejectedWith: 429 }],
  ['a refusal that asks to wait', { rejected: 1, rejectedWith: 503, waitUntil: 1e9 }],
])('%s ends a comparison, and begins none', (_title, refused) => {
  const { independence, told, go } = searching(20);
  go(1, () => refused);
  expect(independence.isComparing).toBe(false);
  go(0.5, failing(2));
  expect(independence.isComparing).toBe(true);
  go(0.1, () => refused);
  expect(independence.isComparing).toBe(false);
  expect(told.at(-1)).toMatchObject(refused);
});
