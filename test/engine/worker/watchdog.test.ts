import fc from 'fast-check';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { Watchdog, type WatchdogFacts, type WatchdogVerdict } from '../../../src/engine/worker/watchdog.ts';

/** Rows wait, and nothing excuses that none starts. */
const stuck: WatchdogFacts = { waiting: 3, active: 0, started: 0, isResting: false, isDatastoreAway: false };

const second = 1_000;

afterEach(() => void vi.restoreAllMocks());

/** A watchdog whose clock advances by this much before each check. */
function watched() {
  let now = 0;
  vi.spyOn(performance, 'now').mockImplementation(() => now);
  const watchdog = new Watchdog();
  return {
    checkAfter(ms: number, facts: WatchdogFacts = stuck): WatchdogVerdict {
      now += ms;
      return watchdog.check(facts);
    },
  };
}

/** Changes to the facts, each of which excuses a standstill. The claims must differ from those at the previous check. */
const excuses: readonly (readonly [title: string, change: (facts: WatchdogFacts) => WatchdogFacts])[] = [
  ['a row was started', (facts) => ({ ...facts, started: facts.started + 1 })],
  ['nothing waits', (facts) => ({ ...facts, waiting: 0 })],
  ['a row is in flight', (facts) => ({ ...facts, active: 1 })],
  ['the queue rests', (facts) => ({ ...facts, isResting: true })],
  ['the datastore is away', (facts) => ({ ...facts, isDatastoreAway: true })],
];

describe('a stuck worker', () => {
  test('is suspected, reconnected every 30 s, and given up after 120 s', () => {
    const round = ['suspicious', 'suspicious', 'reconnect'];
    const end = ['suspicious', 'suspicious', 'give-up', 'give-up'];
    const { checkAfter } = watched();
    expect(Array.from({ length: 14 }, () => checkAfter(10 * second))).toEqual([
      'fine',
      ...round,
      ...round,
      ...round,
      ...end,
    ]);
  });

  test('is not given up by the first check after a suspension', () => {
    const { checkAfter } = watched();
    checkAfter(0);
    expect(checkAfter(3_600 * second)).toBe('reconnect');
  });
});

describe('in any sequence of events', () => {
  const pauses = fc.integer({ min: 0, max: 20 * second });

  test('it never gives up, nor reconnects, within the time after an excuse or a reconnect', () => {
    fc.assert(
      fc.property(
        fc.array(fc.tuple(pauses, fc.option(fc.constantFrom(...excuses), { freq: 3 })), { maxLength: 100 }),
        (checks) => {
          const { checkAfter } = watched();
          let facts = stuck;
          let sinceExcuse = 0;
          let sinceReconnect = 0;
          for (const [pause, excuse] of checks) {
            if (excuse === null) {
              sinceExcuse += pause;
              sinceReconnect += pause;
              const verdict = checkAfter(pause, facts);
              if (verdict === 'give-up') expect(sinceExcuse).toBeGreaterThanOrEqual(120 * second);
              if (verdict !== 'reconnect') continue;
              expect(sinceReconnect).toBeGreaterThanOrEqual(30 * second);
              sinceReconnect = 0;
            } else {
              sinceExcuse = 0;
              sinceReconnect = 0;
              const excused = excuse[1](facts);
              expect(checkAfter(pause, excused)).toBe('fine');
              facts = { ...stuck, started: excused.started };
            }
          }
        },
      ),
    );
  });

  test('a worker that stays stuck is given up in the end, after it was reconnected', () => {
    fc.assert(
      fc.property(
        fc.array(fc.tuple(pauses, fc.constantFrom(...excuses)), { maxLength: 20 }),
        fc.infiniteStream(fc.integer({ min: 1, max: 60 * second })),
        (before, stuckPauses) => {
          const { checkAfter } = watched();
          let facts = stuck;
          for (const [pause, [, change]] of before) {
            facts = change({ ...stuck, started: facts.started });
            checkAfter(pause, facts);
          }
          facts = { ...stuck, started: facts.started };
          checkAfter(0, facts);
          const said: WatchdogVerdict[] = [];
          let elapsed = 0;
          for (const pause of stuckPauses) {
            said.push(checkAfter(pause, facts));
            elapsed += Math.min(pause, 30 * second);
            if (said.at(-1) === 'give-up') break;
          }
          expect(elapsed).toBeLessThan(150 * second);
          expect(said).toContain('reconnect');
        },
      ),
    );
  });
});
