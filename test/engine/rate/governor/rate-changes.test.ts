import { describe, expect, test } from 'vitest';
import { Cooldown, type CooldownVerdict } from '../../../../src/engine/rate/governor/rate-changes.ts';

const cut = { rate: 50, latencyMs: 50, lagMs: 50 };

const goingOn: CooldownVerdict = 'going-on';

describe('a rate that was lowered', () => {
  /** Three periods of 100 ms, each with this many accepted and rejected calls. */
  test.each<
    [title: string, periods: `${number}+${number} ${number}+${number} ${number}+${number}`, CooldownVerdict]
  >([
    ['has settled when nothing is refused', '5+0 5+0 5+0', 'enough'],
    ['has settled when one call is refused', '5+0 5+1 5+0', 'enough'],
    ['is still too fast when more than a tenth is refused', '5+0 4+1 4+1', 'too-fast'],
    ['has settled when the first refusals are of calls sent earlier', '0+9 5+0 5+0', 'enough'],
    ['is clearly too fast when most calls are refused', '0+0 1+2 1+4', 'too-fast'],
    ['does not help where nothing is accepted', '0+5 0+2 0+2', 'dry'],
  ])('%s (accepted + rejected: %s)', (_, periods, verdict) => {
    const cooldown = new Cooldown(0, cut);
    const verdicts = periods.split(' ').map((calls, index) => {
      const [accepted = 0, rejected = 0] = calls.split('+').map(Number);
      return cooldown.update({
        since: index * 100,
        now: (index + 1) * 100,
        accepted,
        rejected,
        waitUntil: 0,
      });
    });
    expect(verdicts).toEqual([goingOn, goingOn, verdict]);
  });

  test.each<[title: string, refusedAt: number, verdict: CooldownVerdict]>([
    ['is too fast when a call is refused that was sent after the wait', 1_080, 'too-fast'],
    ['is not too fast when one is refused that was sent before it', 900, goingOn],
  ])('%s', (_, refusedAt, verdict) => {
    const cooldown = new Cooldown(0, cut);
    expect(cooldown.update({ since: 0, now: 800, accepted: 0, rejected: 0, waitUntil: 1_000 })).toBe(goingOn);
    const refused = { since: 800, now: refusedAt, accepted: 4, rejected: 1, waitUntil: refusedAt + 1_000 };
    expect(cooldown.update(refused)).toBe(verdict);
  });

  test('is judged by calls that were sent after the wait', () => {
    const cooldown = new Cooldown(0, cut);
    const quiet = { accepted: 0, rejected: 0, waitUntil: 1_000 };
    expect(cooldown.update({ ...quiet, since: 0, now: 1_000 })).toBe(goingOn);
    expect(cooldown.update({ ...quiet, since: 1_000, now: 1_090 })).toBe(goingOn);
    expect(cooldown.update({ ...quiet, since: 1_090, now: 1_300 })).toBe(goingOn);
    expect(cooldown.update({ ...quiet, since: 1_300, now: 1_500, accepted: 10 })).toBe('enough');
  });
});
