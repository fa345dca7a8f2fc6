import { describe, expect, test } from 'vitest';
import { Prefetch } from '../../../src/engine/worker/prefetch.ts';

describe('rows in hand', () => {
  test('rise with the calls in flight, beat by beat, up to the most allowed', () => {
    const rows = new Prefetch();
    const inHand = [0];
    while (inHand.length < 12) inHand.push(rows.update(inHand.at(-1) ?? 0, 55));
    expect(inHand).toEqual([0, 3, 7, 12, 18, 26, 36, 48, 55, 55, 55, 55]);
  });

  test('fall a second after the calls in flight', () => {
    const rows = new Prefetch();
    rows.update(20, 50);
    const inHand = Array.from({ length: 10 }, () => rows.update(2, 50));
    expect(inHand).toEqual([28, 28, 28, 28, 28, 28, 28, 28, 28, 6]);
  });
});
