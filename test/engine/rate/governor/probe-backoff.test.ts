import { expect, test } from 'vitest';
import { ProbeSchedule } from '../../../../src/engine/rate/governor/probe-backoff.ts';

test('a probe is made as soon as at first after a limit has risen', () => {
  const schedule = new ProbeSchedule(false);
  const isDueAfter = (seconds: number) => schedule.isDue(seconds * 1_000, 50);
  schedule.noteUsedWindow(60_000);
  expect([isDueAfter(179), isDueAfter(180)]).toEqual([false, true]);
  schedule.noteRisenLimit();
  expect([isDueAfter(13), isDueAfter(14)]).toEqual([false, true]);
});
