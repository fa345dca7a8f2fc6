import { describe, expect, test } from 'vitest';
import type { SlotReply } from '../../../src/engine/cluster/timeline.ts';
import { CallScheduler } from '../../../src/engine/rate/call-scheduler.ts';

const reply: SlotReply = {
  now: 0,
  count: 0,
  from: 0,
  gap: 0.5,
  isSet: true,
  seats: 0,
  elsewhere: 0,
  callers: 1,
  restMs: 0,
};

/** A worker with this many waiting rows, and what its visits asked for within a time of milliseconds. */
function begin(waiting: number, replies: Partial<SlotReply>) {
  const scheduler = new CallScheduler({ random: Math.random });
  let now = 0;
  return (milliseconds: number, rows = waiting) => {
    const visits = [];
    for (const until = now + milliseconds; now < until; now += 1) {
      const { reserved, visit } = scheduler.step(now, { waiting: rows, ready: 0 });
      scheduler.releaseTurns(reserved);
      if (visit === undefined) continue;
      visits.push(visit);
      scheduler.takeReply(now, now, { ...reply, now, ...replies });
    }
    return visits;
  };
}

describe('a worker visits the timeline', () => {
  test.each([
    { what: 'no seats', seats: 0 },
    { what: 'seats', seats: 5 },
  ])('with $what about 2,000 times a second, together with hundreds of others', ({ seats }) => {
    for (const callers of [200, 500, 1_000]) {
      const perSecond = (callers * begin(5, { seats, callers })(10_000).length) / 10;
      expect(perSecond).toBeGreaterThan(1_600);
      expect(perSecond).toBeLessThan(2_400);
    }
  });

  test('at least once a second, so that its permission lasts', () => {
    expect(begin(5, { callers: 10_000 })(10_000).length).toBeGreaterThan(7);
  });

  test('at once when a row arrives after it reported nothing to call', () => {
    const visits = begin(0, { callers: 500 });
    expect(visits(10_000, 1)[0]).toMatchObject({ need: 3 });
    visits(2_000, 0);
    expect(visits(1_000, 0)).toEqual([]);
    expect(visits(1, 1)).toMatchObject([{ need: 3 }]);
  });

  test('for a fifth of its seats, so that its calls are spread among those of others', () => {
    expect(Math.max(...begin(50, { seats: 20, callers: 3 })(1_000).map(({ want }) => want))).toBe(4);
  });
});
