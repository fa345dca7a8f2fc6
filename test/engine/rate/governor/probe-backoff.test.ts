import { describe, expect, test } from 'vitest';
import { ProbeSchedule } from '../../../../src/engine/rate/governor/probe-backoff.ts';

const second = 1_000;

/** After how many whole seconds a probe is due. */
function dueAfter(schedule: ProbeSchedule, rate: number): number {
  let seconds = 0;
  while (!schedule.isDue(seconds * second, rate)) seconds++;
  return seconds;
}

describe('a probe', () => {
  test.each([
    [1_000, 14],
    [50, 14],
    [5, 30],
    [0.1, 1_500],
    [0.001, 1_800],
  ])('at %d calls/s is made after %d s', (rate, seconds) => {
    expect(dueAfter(new ProbeSchedule(false), rate)).toBe(seconds);
  });

  test('of a rate learned in an earlier run is made soon, and then like any other', () => {
    const schedule = new ProbeSchedule(true);
    expect(dueAfter(schedule, 0.1)).toBe(3);
    schedule.refused();
    expect(dueAfter(schedule, 50)).toBe(14);
  });

  test('that costs a wait is made less often each time it fails, up to a limit', () => {
    const schedule = new ProbeSchedule(false);
    const pauses = Array.from({ length: 7 }, () => {
      schedule.failed(second);
      return dueAfter(schedule, 50);
    });
    expect(pauses).toEqual([24, 30, 38, 47, 50, 50, 50]);
  });

  test('that costs nothing is not made less often', () => {
    const schedule = new ProbeSchedule(false);
    schedule.failed(0);
    expect(dueAfter(schedule, 50)).toBe(14);
  });

  test('is made as soon as at first after a limit has risen', () => {
    const schedule = new ProbeSchedule(false);
    schedule.dry(60 * second);
    expect(dueAfter(schedule, 50)).toBe(180);
    schedule.risen();
    expect(dueAfter(schedule, 50)).toBe(14);
  });
});
