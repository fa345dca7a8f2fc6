import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { RateTrim } from '../../src/worker/rate-trim.ts';

const stepMs = 100;
const most = 1.03;

/** What asks a trim for a rate, of which a share gets lost. */
function begin() {
  const trim = new RateTrim(0);
  let now = 0;
  let asked = 0;
  return {
    /** Goes on for so many seconds. @returns what is asked for at the end, and called per second then. */
    go(wanted: number, lost: number, seconds: number, steady = true): { asked: number; called: number } {
      for (const end = now + seconds * 1_000; now < end; ) {
        now += stepMs;
        asked = trim.apply(now, ((asked || wanted) * (1 - lost) * stepMs) / 1_000, wanted, steady);
      }
      return { asked, called: asked * (1 - lost) };
    },
  };
}

describe('a rate that loses a little between its windows', () => {
  test.each([0, 0.01, 0.02, 0.029])('is reached though %d of it get lost', (lost) => {
    const { called } = begin().go(50, lost, 60);
    expect(called).toBeCloseTo(50, 1);
    expect(called).toBeLessThanOrEqual(50.01);
  });

  test('is asked for with three hundredths more at most', () => {
    expect(begin().go(50, 0.045, 60).asked).toBeCloseTo(50 * most, 9);
  });

  test.each([0.06, 0.1, 0.5])('is left alone when calls are few for another reason: %d of them', (lost) => {
    expect(begin().go(50, lost, 60).asked).toBe(50);
  });

  test('is asked for as it is again when nothing gets lost any more', () => {
    const { go } = begin();
    expect(go(50, 0.02, 60).asked).toBeGreaterThan(50.9);
    expect(go(50, 0, 60).asked).toBeCloseTo(50, 1);
  });

  test('is never asked for with less than is wanted, nor with more than three hundredths above', () => {
    fc.assert(
      fc.property(
        fc.array(fc.tuple(fc.nat(200), fc.integer({ min: 1, max: 100 }), fc.boolean()), { maxLength: 200 }),
        (steps) => {
          const trim = new RateTrim(0);
          for (const [index, [sent, wanted, steady]] of steps.entries()) {
            const asked = trim.apply((index + 1) * 250, sent, wanted, steady);
            expect(asked).toBeGreaterThanOrEqual(wanted);
            expect(asked).toBeLessThanOrEqual(wanted * most + 1e-9);
          }
        },
      ),
    );
  });
});

describe('a rate that is not to stay', () => {
  test('teaches nothing', () => {
    expect(begin().go(50, 0.02, 60, false).asked).toBe(50);
  });

  test('teaches nothing afterwards, either', () => {
    const { go } = begin();
    go(50, 0.02, 1.9, false);
    expect(go(50, 0, 1).asked).toBe(50);
  });

  test('is asked for with as much more as was learned before', () => {
    const { go } = begin();
    const learned = go(50, 0.02, 60).asked / 50;
    expect(learned).toBeCloseTo(1 / 0.98, 3);
    // Neither that more gets lost now nor that nothing does tells anything.
    expect(go(80, 0.045, 30, false).asked).toBe(80 * learned);
    expect(go(20, 0, 30, false).asked).toBe(20 * learned);
  });

  test('is also one that changes all the time, whatever is said of it', () => {
    const { go } = begin();
    for (let wanted = 50; wanted < 100; wanted *= 1.02) expect(go(wanted, 0.02, 1).asked).toBe(wanted);
  });
});
