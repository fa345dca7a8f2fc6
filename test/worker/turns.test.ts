import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { nearerToTurn, Turns, turnOf } from '../../src/worker/turns.ts';

describe('turns', () => {
  test('come round once for each call of a worker, however seldom they are asked for', () => {
    const turns = new Turns(0);
    expect([0, 100, 250, 6_001].map((now) => turns.update(now, 50, 3))).toEqual([0, 60, 240, 6_000]);
  });

  test('go on evenly when the rate changes', () => {
    const turns = new Turns(0);
    turns.update(0, 50, 3);
    expect(turns.update(100, 40, 3)).toBe(60);
    expect(turns.update(140, 40, 3)).toBe(135);
  });

  test('are left where they are by a clock that is set back', () => {
    const turns = new Turns(1_000_000);
    turns.update(1_000_000, 50, 3);
    expect(turns.update(400_010, 50, 3)).toBe(400_000);
  });

  test('of the workers follow each other evenly', () => {
    expect([0, 1, 2, 3].map((place) => turnOf(place, 1_000, 50))).toEqual([1_000, 1_020, 1_040, 1_060]);
  });
});

describe('a call', () => {
  const times = fc.integer({ min: 0, max: 100_000 });
  const spaces = fc.integer({ min: 1, max: 1_000 });

  test('is never moved by more than a tenth of its spacing, nor away from a turn', () => {
    fc.assert(
      fc.property(times, times, spaces, (at, turnAt, spacingMs) => {
        const moved = nearerToTurn(at, turnAt, spacingMs);
        expect(Math.abs(moved - at)).toBeLessThanOrEqual(spacingMs / 10 + 1e-6);
        expect(away(moved, turnAt, spacingMs)).toBeLessThanOrEqual(away(at, turnAt, spacingMs) + 1e-6);
      }),
    );
  });

  test('is at its turn after five others at the latest', () => {
    fc.assert(
      fc.property(times, times, spaces, (first, turnAt, spacingMs) => {
        let at = first;
        for (let call = 0; call < 5; call += 1) at = nearerToTurn(at + spacingMs, turnAt, spacingMs);
        expect(away(at, turnAt, spacingMs)).toBeLessThan(1e-6);
      }),
    );
  });

  function away(at: number, turnAt: number, spacingMs: number): number {
    return Math.abs(at - turnAt - Math.round((at - turnAt) / spacingMs) * spacingMs);
  }
});
