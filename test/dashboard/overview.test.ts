import { expect, test } from 'vitest';
import { steadyNow } from '../../src/clock.ts';
import type { PublishedPace } from '../../src/cluster/entries.ts';
import { runData } from '../../src/dashboard/overview.ts';
import { Shares } from '../../src/dashboard/shares.ts';
import { viewOfEntry } from '../../src/run/run-view.ts';
import { runEntry, workerEntry } from '../helpers/cluster-entries.ts';

const traffic = (accepted: number) => ({ accepted, rejected: 0, durationMs: 0, active: 0, stated: [] });

test('the time that is left is that of the rows without a result, unless nothing is called', () => {
  const entry = runEntry({ rows: 100, rowsPerSecond: 10 });
  const live = { entry, workers: [workerEntry()], pace: undefined };
  const seen = { entries: [entry], apis: new Map() };
  expect(runData(viewOfEntry(entry, live), seen)).toMatchObject({ etaSeconds: 10, isElsewhere: true });
  const alone = runData(viewOfEntry(entry, { ...live, workers: [] }), seen);
  expect(alone).toMatchObject({ waiting: 'for a worker: none calls this API' });
  expect(alone).not.toHaveProperty('etaSeconds');
  const pace: PublishedPace = {
    isKept: true,
    concurrency: 1,
    phase: 'waiting',
    tolerates503: false,
    accepted: 0,
    rejected: 0,
    reason: 'the API asks to wait',
    runs: [],
    workers: 1,
    seenAt: entry.seenAt,
    restUntil: steadyNow() + 60_000,
  };
  expect(runData(viewOfEntry(entry, { ...live, pace }), seen)).toMatchObject({
    waiting: 'the API asks to wait',
    waitUntil: expect.stringMatching(/:\d\d\.000Z$/),
  });
  const paused = { ...entry, state: 'paused' };
  expect(runData(viewOfEntry(paused, { ...live, entry: paused }), seen).waiting).toBe('until it is unpaused');
});

test("a worker's share is that of the calls of the last seconds", () => {
  let now = 0;
  const shares = new Shares(() => now);
  const look = (one: number, other: number) =>
    Object.fromEntries(
      shares.of([
        workerEntry({ id: 'one', traffic: traffic(one) }),
        workerEntry({ id: 'other', traffic: traffic(other) }),
      ]),
    );
  expect(look(1_000, 0)).toEqual({});
  now += 1_000;
  expect(look(1_010, 30)).toEqual({ one: 0.25, other: 0.75 });
  now += 6_000;
  expect(look(1_010, 30)).toEqual({});
  now += 1_000;
  expect(look(1_010, 30)).toEqual({});
});
