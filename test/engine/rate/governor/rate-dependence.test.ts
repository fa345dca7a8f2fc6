import { describe, expect, test } from 'vitest';
import { RateDependence } from '../../../../src/engine/rate/governor/rate-dependence.ts';
import type { Traffic } from '../../../../src/engine/rate/governor/traffic.ts';
import { nothing } from './no-traffic.ts';

const beatMs = 100;

/** What an API does with this many calls after this many earlier ones. */
type Api = (calls: number, before: number) => Partial<Traffic>;

/** One call in this many fails with 503, evenly spaced. */
const failing =
  (every: number): Api =>
  (calls, before) => {
    const failed = Math.floor((before + calls) / every) - Math.floor(before / every);
    return { accepted: calls - failed, unavailable: failed };
  };
/** Accepts this many calls per beat; the others fail with 503. */
const limited =
  (perBeat: number): Api =>
  (calls) => {
    const accepted = Math.min(calls, perBeat);
    return { accepted, unavailable: calls - accepted };
  };
const nobody: Api = (calls) => ({ unavailable: calls });

/** An API whose calls take no time, called at the rate of a search that does not change, and what the search is told. */
function searching(rate: number) {
  const dependence = new RateDependence();
  let now = 0;
  let calls = 0;
  let owed = 0;
  const rates: number[] = [];
  const told: Traffic[] = [];
  return {
    dependence,
    /** The rates at which calls were made. */
    rates,
    told,
    go(seconds: number, api: Api, searched: { rate?: number } = {}, most = Number.POSITIVE_INFINITY): void {
      const search = { rate, limit: undefined, isWaiting: false, ...searched };
      for (const end = now + seconds * 1_000; now < end; ) {
        now += beatMs;
        const paced = dependence.paced(search.rate, most);
        rates.push(paced);
        owed += (paced * beatMs) / 1_000;
        const sent = Math.floor(owed);
        owed -= sent;
        const met = { ...nothing, ...api(sent, calls) };
        calls += sent;
        told.push(dependence.update(met, { now, passedMs: beatMs, reactionMs: 100 }, search));
      }
    },
  };
}

const rejected = (told: readonly Traffic[]) => told.reduce((sum, { rejected }) => sum + rejected, 0);
const lateOf = <Item>(items: readonly Item[], seconds: number) => items.slice((-seconds * 1_000) / beatMs);

describe('503s that come at any rate', () => {
  test.each([
    ['half', 2],
    ['a fifth', 5],
    ['two thirds', 1.5],
  ])('(%s) are accidents within half a minute, and the search does not see them', (_title, every) => {
    const { dependence, told, go } = searching(20);
    go(30, failing(every));
    expect(dependence.share).toBeCloseTo(1 / every, 1);
    expect(rejected(told)).toBe(0);
    expect([dependence.isAccident, dependence.isProven]).toEqual([true, false]);
  });

  test('are compared at the present rate and one below what is accepted', () => {
    const { rates, go } = searching(20);
    go(20, failing(2));
    expect(Math.min(...rates)).toBeLessThan(0.7 * 10 + 0.1);
    expect(rates.at(-1)).toBe(20);
  });

  test('are compared at no less than the first rate where the search has come down', () => {
    const { dependence, rates, go } = searching(1);
    go(60, failing(2));
    expect(dependence.share).toBeCloseTo(0.5, 1);
    expect(Math.max(...rates)).toBe(20);
  });

  test('are forgotten when they stop', () => {
    const { dependence, go } = searching(20);
    go(20, failing(2));
    go(10, failing(Number.POSITIVE_INFINITY));
    expect([dependence.share, dependence.isAccident]).toEqual([undefined, false]);
  });

  test('are learned again when they become more', () => {
    const { dependence, go } = searching(20);
    go(20, failing(5));
    go(80, failing(2));
    expect(dependence.share).toBeCloseTo(0.5, 1);
  });

  test('are not compared while they are few', () => {
    const { dependence, rates, go } = searching(20);
    go(60, failing(20));
    expect(new Set(rates)).toEqual(new Set([20]));
    expect(dependence.isComparing).toBe(false);
  });
});

describe('503s of a limit', () => {
  /** Finds that 503s go away when the rate goes down, and come back when it rises. */
  function proven(rate: number, perBeat: number) {
    const search = searching(rate);
    search.go(15, limited(perBeat));
    search.go(2, limited(perBeat));
    return search;
  }

  test.each([
    ['far below the rate', 4],
    ['near the rate', 10],
  ])('%s are refusals, each on its own, once they have gone and come back', (_title, perBeat) => {
    const { dependence, told, go } = proven(150, perBeat);
    expect([dependence.isProven, dependence.share]).toEqual([true, undefined]);
    go(0.1, () => ({ accepted: 99, unavailable: 1 }));
    expect(told.at(-1)).toMatchObject({ accepted: 99, rejected: 1, unavailable: 0, rejectedWith: 503 });
  });

  test('are refusals also where the search stands far above the rate at which calls are made', () => {
    const { dependence, go } = searching(500);
    for (let beat = 0; beat < 150 && dependence.found === undefined; beat += 1)
      go(beatMs / 1_000, limited(5), {}, 100);
    go(1, limited(5), { rate: 80 });
    expect(dependence.isProven).toBe(true);
  });

  test.each([
    ['after some seconds', 2],
    ['from the first call', 0],
  ])('show roughly how many are accepted per second %s', (_title, before) => {
    const { dependence, go } = searching(80);
    go(before, limited(5), { rate: 40 });
    let found: number | undefined;
    for (let beat = 0; beat < 150; beat += 1) {
      go(beatMs / 1_000, limited(5));
      found ??= dependence.found?.rate;
    }
    expect(found).toBeGreaterThan(40);
    expect(found).toBeLessThanOrEqual(60);
  });

  test('that ended by themselves are no refusals when the rate rises and they do not return', () => {
    const { dependence, go } = searching(40);
    go(1, failing(2));
    go(9, failing(Number.POSITIVE_INFINITY));
    go(1, failing(Number.POSITIVE_INFINITY), { rate: 100 });
    go(0.5, failing(8), { rate: 100 });
    expect(dependence.isProven).toBe(false);
  });

  test('that continue at a twentieth of the rate are compared again, and are accidents', () => {
    const { dependence, go } = proven(80, 5);
    expect(dependence.isProven).toBe(true);
    go(30, failing(2), { rate: 2 });
    expect([dependence.isProven, dependence.isAccident]).toEqual([false, true]);
  });

  test('count on top of 503s that come at any rate', () => {
    const { told, go } = searching(40);
    go(20, failing(5));
    go(10, (sent) => ({ accepted: Math.min(1, sent), unavailable: sent - Math.min(1, sent) }));
    expect(rejected(told)).toBeGreaterThan(0);
  });
});

describe('an API that answers nothing but 503', () => {
  test('is called a few times a second after some calls, and then lowers the rate', () => {
    const { dependence, rates, told, go } = searching(40);
    go(1, failing(Number.POSITIVE_INFINITY));
    go(8, nobody);
    expect(Math.min(...rates)).toBe(5);
    expect([dependence.isComparing, dependence.isProven]).toEqual([false, false]);
    expect(dependence.share).toBeUndefined();
    expect(rejected(lateOf(told, 1))).toBeGreaterThan(0);
  });

  test('is not compared again where a window is used up from time to time', () => {
    const { dependence, told, go } = searching(10);
    for (let window = 0; window < 2; window += 1) {
      go(50, failing(Number.POSITIVE_INFINITY));
      go(10, nobody);
    }
    expect(dependence.isComparing).toBe(false);
    expect(rejected(lateOf(told, 5))).toBe(50);
  });
});

test.each<[string, Partial<Traffic>]>([
  ['a 429', { rejected: 1, rejectedWith: 429 }],
  ['a refusal that asks to wait', { rejected: 1, rejectedWith: 503, waitUntil: 1e9 }],
])('%s ends a comparison, and does not start one', (_title, refused) => {
  const { dependence, told, go } = searching(20);
  go(1, () => refused);
  expect(dependence.isComparing).toBe(false);
  go(0.5, failing(2));
  expect(dependence.isComparing).toBe(true);
  go(0.1, () => refused);
  expect(dependence.isComparing).toBe(false);
  expect(told.at(-1)).toMatchObject(refused);
});
