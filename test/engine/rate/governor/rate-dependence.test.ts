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
    go(seconds: number, api: Api): void {
      const search = { rate, limit: undefined, isWaiting: false };
      for (const end = now + seconds * 1_000; now < end; ) {
        now += beatMs;
        const paced = dependence.paced(rate, Number.POSITIVE_INFINITY);
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
});

test.each([
  ['far below the rate', 4],
  ['near the rate', 10],
])('503s of a limit %s are refusals, once they have gone with the rate and come back', (_title, perBeat) => {
  const { dependence, told, go } = searching(150);
  go(15, limited(perBeat));
  go(2, limited(perBeat));
  expect([dependence.isProven, dependence.share]).toEqual([true, undefined]);
  go(0.1, () => ({ accepted: 99, unavailable: 1 }));
  expect(told.at(-1)).toMatchObject({ accepted: 99, rejected: 1, unavailable: 0, rejectedWith: 503 });
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
