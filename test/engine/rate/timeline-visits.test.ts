import { expect, test } from 'vitest';
import {
  sharedTiming,
  TimelineVisits,
  type WorkerSituation,
} from '../../../src/engine/rate/timeline-visits.ts';

const waiting: WorkerSituation = {
  uncalled: 5,
  reserved: 0,
  active: 0,
  places: 0,
  wanted: 50,
  slots: 0,
  isRateKept: true,
  leadMs: 5,
  readySince: 0,
};

/** How often a worker visits in ten seconds, as one of this many that want to call. */
function visitsAmong(callers: number, situation: WorkerSituation): number {
  const visits = new TimelineVisits(sharedTiming, Math.random);
  let made = 0;
  for (let now = 0; now < 10_000; now += 1) {
    if (visits.next(now, situation) === undefined) continue;
    made += 1;
    visits.replied(now, now, 0);
    visits.callers = callers;
  }
  return made;
}

test.each([
  { what: 'have no places', situation: waiting },
  { what: 'have places', situation: { ...waiting, places: 5 } },
])('hundreds of workers that $what visit 2,000 times a second, all together', ({ situation }) => {
  for (const callers of [200, 500, 1_000]) {
    const perSecond = (callers * visitsAmong(callers, situation)) / 10;
    expect(perSecond).toBeGreaterThan(1_600);
    expect(perSecond).toBeLessThan(2_400);
  }
});

test('one of many workers takes no more slots than it has free places', () => {
  const wanted = (callers: number) => {
    const visits = new TimelineVisits(sharedTiming, Math.random);
    visits.callers = callers;
    visits.ended(50);
    return visits.next(0, { ...waiting, places: 2 })?.want;
  };
  expect([wanted(3), wanted(100)]).toEqual([4, 2]);
});

test('a worker visits at least once a second, so that its permission lasts', () => {
  expect(visitsAmong(10_000, waiting)).toBeGreaterThan(9);
});

test('a worker that reported nothing to call visits at once when a row arrives', () => {
  const visits = new TimelineVisits(sharedTiming, Math.random);
  visits.callers = 500;
  visits.next(0, { ...waiting, uncalled: 0 });
  visits.replied(0, 1, 0);
  expect(visits.nextAt({ ...waiting, uncalled: 0 })).toBe(Number.POSITIVE_INFINITY);
  expect(visits.next(20, waiting)).toMatchObject({ need: 5 });
});
