import fc from 'fast-check';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { Watchdog, type WatchdogFacts, type WatchdogVerdict } from '../../../src/engine/worker/watchdog.ts';

/** Rows wait, and nothing excuses that none starts. */
const stuck: WatchdogFacts = { waiting: 3, active: 0, started: 0, resting: false, away: false };

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

/** The verdicts of this many checks, one every few seconds. */
function verdicts(checks: number, everyMs: number, facts: WatchdogFacts = stuck): WatchdogVerdict[] {
  const { checkAfter } = watched();
  return Array.from({ length: checks }, () => checkAfter(everyMs, facts));
}

/** Changes to the facts, each of which excuses a standstill. The claims must differ from those at the previous check. */
const excuses: readonly (readonly [title: string, change: (facts: WatchdogFacts) => WatchdogFacts])[] = [
  ['a row was started', (facts) => ({ ...facts, started: facts.started + 1 })],
  ['nothing waits', (facts) => ({ ...facts, waiting: 0 })],
  ['a row is in flight', (facts) => ({ ...facts, active: 1 })],
  ['the queue rests', (facts) => ({ ...facts, resting: true })],
  ['the datastore is away', (facts) => ({ ...facts, away: true })],
];

describe('a stuck worker', () => {
  test('is suspected, reconnected every 30 s, and given up after 120 s', () => {
    expect(verdicts(14, 10 * second)).toEqual([
      'fine',
      'suspicious',
      'suspicious',
      'reconnect',
      'suspicious',
      'suspicious',
      'reconnect',
      'suspicious',
      'suspicious',
      'reconnect',
      'suspicious',
      'suspicious',
      'give-up',
      'give-up',
    ]);
  });

  test('has the whole of a further 30 s after a check that came late', () => {
    const { checkAfter } = watched();
    expect([0, 29, 10, 10, 10, 9, 1].map((seconds) => checkAfter(seconds * second))).toEqual([
      'fine',
      'suspicious',
      'reconnect',
      'suspicious',
      'suspicious',
      'suspicious',
      'reconnect',
    ]);
  });

  test('is not given up by the first check after a suspension', () => {
    const { checkAfter } = watched();
    checkAfter(0);
    expect(checkAfter(3_600 * second)).toBe('reconnect');
  });
});

describe('a worker is fine, for any time, while', () => {
  test.each(excuses)('%s', (_title, change) => {
    const { checkAfter } = watched();
    let facts = stuck;
    for (let check = 0; check < 100; check += 1) {
      facts = change(facts);
      expect(checkAfter(10 * second, facts)).toBe('fine');
    }
  });
});

describe('the clock starts again when', () => {
  test.each(excuses)('%s', (_title, change) => {
    const { checkAfter } = watched();
    for (let check = 0; check < 12; check += 1) checkAfter(10 * second);
    const excused = change(stuck);
    expect(checkAfter(5 * second, excused)).toBe('fine');
    const stuckAgain = { ...stuck, started: excused.started };
    expect([10, 10, 10, 10].map((seconds) => checkAfter(seconds * second, stuckAgain))).toEqual([
      'fine',
      'suspicious',
      'suspicious',
      'reconnect',
    ]);
  });

  test('a row was started after it was given up', () => {
    const { checkAfter } = watched();
    for (let check = 0; check < 20; check += 1) checkAfter(10 * second);
    expect(checkAfter(0)).toBe('give-up');
    expect(checkAfter(0, { ...stuck, started: 1 })).toBe('fine');
  });
});

describe('in any sequence of events', () => {
  const pauses = fc.integer({ min: 0, max: 20 * second });

  test('it never gives up, nor reconnects, within the time after an excuse', () => {
    fc.assert(
      fc.property(
        fc.array(fc.tuple(pauses, fc.option(fc.constantFrom(...excuses), { freq: 3 })), { maxLength: 100 }),
        (checks) => {
          const { checkAfter } = watched();
          let facts = stuck;
          let sinceExcuse = 0;
          for (const [pause, excuse] of checks) {
            if (excuse === null) {
              sinceExcuse += pause;
              const verdict = checkAfter(pause, facts);
              if (verdict === 'reconnect') expect(sinceExcuse).toBeGreaterThanOrEqual(30 * second);
              if (verdict === 'give-up') expect(sinceExcuse).toBeGreaterThanOrEqual(120 * second);
            } else {
              sinceExcuse = 0;
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

  test('reconnects are never closer together than the pause between them', () => {
    fc.assert(
      fc.property(fc.array(pauses, { maxLength: 60 }), (stuckPauses) => {
        const { checkAfter } = watched();
        checkAfter(0);
        let sinceReconnect = 0;
        for (const pause of stuckPauses) {
          sinceReconnect += pause;
          if (checkAfter(pause) !== 'reconnect') continue;
          expect(sinceReconnect).toBeGreaterThanOrEqual(30 * second);
          sinceReconnect = 0;
        }
      }),
    );
  });
});
