import { describe, expect, test } from 'vitest';
import { EvenShares, type Shared } from '../../src/worker/even-shares.ts';

const beatMs = 100;
const steady: Shared = { workers: 3, rate: 60, sent: 6, rests: false };

/** What is decided in each beat of so many seconds. */
function decided(shares: EvenShares, from: number, seconds: number, shared: Shared): readonly boolean[] {
  return Array.from({ length: seconds * 10 }, (_, beat) => shares.update(from + beat * beatMs, shared));
}

describe('equal parts of a rate', () => {
  test('are kept by the gates as long as they are used', () => {
    const shares = new EvenShares(0);
    expect(decided(shares, beatMs, 60, steady)).not.toContain(false);
  });

  test('that one worker does not use are left to the queue for a minute, and then tried again', () => {
    const shares = new EvenShares(0);
    const weak = decided(shares, beatMs, 7, { ...steady, sent: 4.5 });
    expect(weak.slice(0, 49)).not.toContain(false);
    expect(weak.slice(52)).not.toContain(true);
    const later = decided(shares, 7_100, 60, steady);
    expect(later.slice(0, 575)).not.toContain(true);
    expect(later.at(-1)).toBe(true);
  });

  test.each<[why: string, shared: Partial<Shared>]>([
    ['of a single worker: nobody takes what it leaves', { workers: 1 }],
    ['in a rest', { rests: true }],
    ['before there are rows', {}],
  ])('need not be used %s', (_, shared) => {
    const shares = new EvenShares(0);
    expect(decided(shares, beatMs, 10, { ...steady, sent: 0, ...shared })).not.toContain(false);
  });

  test('of a rate that rises are judged kindly, because news of it comes late', () => {
    const rising = (sent: number): readonly boolean[] => {
      const shares = new EvenShares(0);
      return Array.from({ length: 60 }, (_, beat) => {
        const rate = 20 * 1.05 ** beat;
        return shares.update((beat + 1) * beatMs, { ...steady, rate, sent: (sent * rate) / 10 });
      });
    };
    expect(rising(0.75)).not.toContain(false);
    expect(rising(0.6)).toContain(false);
  });

  test('are judged anew when a worker comes or goes', () => {
    const shares = new EvenShares(0);
    decided(shares, beatMs, 1, { ...steady, sent: 1 });
    expect(decided(shares, 1_100, 12, { ...steady, workers: 2 })).not.toContain(false);
  });

  test('are none of a rate that is too fast for timers', () => {
    const shares = new EvenShares(0);
    expect(shares.update(beatMs, { ...steady, rate: 1_600 })).toBe(false);
    expect(shares.update(2 * beatMs, steady)).toBe(true);
  });
});
