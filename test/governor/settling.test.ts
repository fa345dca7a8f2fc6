import { describe, expect, test } from 'vitest';
import { type Period, Settling, type SettlingVerdict } from '../../src/governor/settling.ts';

const cut = { rate: 50, latencyMs: 50, lagMs: 50 };

/** The verdicts of periods of 100 ms, each with so many accepted and rejected calls. */
function verdicts(periods: readonly (readonly [accepted: number, rejected: number])[]): SettlingVerdict[] {
  const settling = new Settling(0, cut);
  return periods.map(([accepted, rejected], index) => {
    const period: Period = { since: index * 100, now: (index + 1) * 100, accepted, rejected, waitUntil: 0 };
    return settling.update(period);
  });
}

const goingOn: SettlingVerdict = 'going-on';

describe('a rate that was lowered', () => {
  test.each<[title: string, periods: [number, number][], verdict: SettlingVerdict]>([
    [
      'has settled when nothing is refused',
      [
        [5, 0],
        [5, 0],
        [5, 0],
      ],
      'settled',
    ],
    [
      'has settled when one call is refused',
      [
        [5, 0],
        [5, 1],
        [5, 0],
      ],
      'settled',
    ],
    [
      'is still too fast when more than a tenth is refused',
      [
        [5, 0],
        [4, 1],
        [4, 1],
      ],
      'too-fast',
    ],
    [
      'has settled when what is refused at first was sent before',
      [
        [0, 9],
        [5, 0],
        [5, 0],
      ],
      'settled',
    ],
  ])('%s', (_, periods, verdict) => {
    expect(verdicts(periods)).toEqual([goingOn, goingOn, verdict]);
  });

  test('is clearly too fast when most calls are refused', () => {
    expect(
      verdicts([
        [0, 0],
        [1, 2],
        [1, 4],
      ]),
    ).toEqual([goingOn, goingOn, 'too-fast']);
  });

  test('does not help where nothing is accepted', () => {
    expect(
      verdicts([
        [0, 5],
        [0, 2],
        [0, 2],
      ]),
    ).toEqual([goingOn, goingOn, 'dry']);
  });

  test('is too fast after one more refusal that costs a wait', () => {
    const settling = new Settling(0, cut);
    const periods: Period[] = [
      { since: 0, now: 1_000, accepted: 0, rejected: 0, waitUntil: 1_000 },
      { since: 1_000, now: 1_100, accepted: 4, rejected: 1, waitUntil: 2_100 },
      { since: 1_100, now: 2_100, accepted: 0, rejected: 0, waitUntil: 2_100 },
    ];
    expect(periods.map((period) => settling.update(period))).toEqual([goingOn, goingOn, 'too-fast']);
    expect(settling.acceptedPerSecond(2_100)).toBeCloseTo(4 / 1.1);
  });
});
