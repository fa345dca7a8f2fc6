import { expect, test } from 'vitest';
import { CapTrial } from '../../../../src/engine/rate/governor/cap-trial.ts';

const beatMs = 100;
/** Half of 1 s and six reactions. */
const halfMs = 800;

/** The verdict of a trial and its time, where 5 calls a beat were usual and `accepted` are accepted. */
function judged(accepted: number) {
  const trial = new CapTrial(0, 50, 100);
  for (let now = beatMs; now <= 3 * halfMs; now += beatMs) {
    const isConfirmed = trial.update(now, accepted);
    if (isConfirmed !== undefined) return { isConfirmed, now };
  }
  return undefined;
}

test('a trial that loses nothing is confirmed at its end', () => {
  expect(judged(5)).toEqual({ isConfirmed: true, now: 2 * halfMs });
});

test('a trial that loses a fifth is over when 8 % of all calls of its second half are missing', () => {
  // One call of five is missing in each beat: 8 % of 40 calls, 3.2, after four beats.
  expect(judged(4)).toEqual({ isConfirmed: false, now: halfMs + 4 * beatMs });
});
