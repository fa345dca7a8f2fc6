import { expect, test } from 'vitest';
import { steadyNow } from '../../src/clock.ts';
import type { PublishedPace, RunEntry, WorkerEntry } from '../../src/cluster/entries.ts';
import { workersWanted } from '../../src/cluster/workers-wanted.ts';
import { noOutcomes } from '../../src/domain.ts';

const processOf = {
  host: 'h',
  pid: 1,
  baseUrl: 'https://api.example.com',
  startedAt: '2026-01-01T00:00:00Z',
};
const at = (agoMs: number): string => new Date(Date.now() - agoMs).toISOString();

function run(rest: Partial<RunEntry> = {}): RunEntry {
  return {
    ...processOf,
    ...{ id: 'r', key: 'k', manifest: 'rows.csv', state: 'running', rows: 400_000, done: 100_000 },
    ...{ counts: noOutcomes(), rowsPerSecond: 90, coordinator: { host: 'h', pid: 1 }, seenAt: at(0) },
    ...rest,
  };
}

interface Workers {
  readonly seconds?: number;
  /** Since the start, where that is not what the latest calls took. */
  readonly secondsBefore?: number;
  readonly concurrency?: number;
  readonly isAuto?: true;
  /** Rows in hand, and calls in flight, of each. */
  readonly active?: number;
  readonly accepted?: number;
  readonly agoMs?: number;
}

/** Workers with five calls in flight each, of 200 ms unless told otherwise. */
function workers(count: number, options: Workers = {}): readonly WorkerEntry[] {
  const {
    seconds = 0.2,
    concurrency = 5,
    isAuto,
    active = concurrency,
    accepted = 1_000,
    agoMs = 0,
  } = options;
  return Array.from({ length: count }, (_, index) => ({
    ...processOf,
    ...{ id: `w${index}`, version: '1', concurrency, active, finished: accepted, seenAt: at(agoMs) },
    ...(isAuto && { isAuto }),
    traffic: {
      ...{ accepted, rejected: 0, durationMs: accepted * (options.secondsBefore ?? seconds) * 1_000 },
      ...{ active, stated: [] },
      ...(options.secondsBefore !== undefined && { recentMs: seconds * 1_000 }),
    },
  }));
}

function pace(rest: Partial<PublishedPace> = {}): PublishedPace {
  return {
    ...{ rate: 90, isKept: true, concurrency: 50, phase: 'fixed', refuses503: false, reason: '' },
    ...{ accepted: 1_000, rejected: 0, runs: ['r'], workers: 1, seenAt: at(0) },
    ...rest,
  };
}

/** Calls of 200 ms at 90/s are 18 in flight: 3.6 workers with five each. */
const situations: readonly {
  readonly what: string;
  readonly wanted: number;
  readonly runs?: readonly RunEntry[];
  readonly there: readonly WorkerEntry[];
  readonly pace?: PublishedPace | undefined;
}[] = [
  { what: 'no run', runs: [], there: workers(3), wanted: 0 },
  { what: 'a paused run', runs: [run({ state: 'paused' })], there: workers(3), wanted: 0 },
  { what: 'a run without rows left', runs: [run({ done: 400_000 })], there: workers(3), wanted: 0 },
  {
    what: 'a run whose coordinator is gone',
    runs: [run({ seenAt: at(60_000) })],
    there: workers(3),
    wanted: 0,
  },
  { what: 'a run without a worker', there: [], pace: undefined, wanted: 1 },
  { what: 'a first worker that has made no call', there: workers(1, { accepted: 0 }), wanted: 1 },
  { what: 'too few workers for the rate', there: workers(1), wanted: 4 },
  { what: 'as many as the rate needs', there: workers(4), wanted: 4 },
  { what: 'too many', there: workers(9), wanted: 4 },
  { what: 'one to spare, within the tolerance', there: workers(5), wanted: 5 },
  { what: 'one to spare, beyond the tolerance', there: workers(5, { seconds: 0.19 }), wanted: 4 },
  { what: 'calls that take a little longer', there: workers(4, { seconds: 0.228 }), wanted: 4 },
  { what: 'calls that take longer', there: workers(4, { seconds: 0.25 }), wanted: 5 },
  { what: 'calls that took less in the past', there: workers(1, { secondsBefore: 0.01 }), wanted: 4 },
  { what: 'a cap on calls in flight', there: workers(1), pace: pace({ concurrency: 10 }), wanted: 2 },
  { what: 'workers that are gone', there: [...workers(1), ...workers(8, { agoMs: 60_000 })], wanted: 4 },
  {
    what: 'a long rest',
    there: workers(2, { active: 0 }),
    pace: pace({ restUntil: steadyNow() + 60_000 }),
    wanted: 2,
  },
  { what: 'an outage', runs: [run({ rowsPerSecond: 0 })], there: workers(2), wanted: 2 },
  { what: 'single calls', there: workers(7), pace: pace({ phase: 'waiting', concurrency: 1 }), wanted: 7 },
  {
    what: 'a rate above an estimated limit, to try it',
    there: workers(4),
    pace: pace({ phase: 'probing', rate: 140, limit: 92 }),
    wanted: 4,
  },
  {
    what: 'a search whose calls in flight are used',
    there: workers(2),
    pace: pace({ phase: 'starting', rate: 400 }),
    wanted: 3,
  },
  {
    what: 'a search whose workers have room, because a lower rate is tried',
    there: workers(4, { active: 2 }),
    pace: pace({ phase: 'starting', rate: 400 }),
    wanted: 4,
  },
  {
    what: 'no limit, and all calls in flight that are allowed',
    there: workers(9),
    pace: { ...pace({ concurrency: 50 }), rate: undefined } as unknown as PublishedPace,
    wanted: 10,
  },
  {
    what: 'workers that share the calls in flight',
    there: workers(3, { isAuto: true, concurrency: 16 }),
    wanted: 1,
  },
  {
    what: 'more calls than one process makes',
    there: workers(1, { isAuto: true, concurrency: 200, seconds: 0.01 }),
    pace: pace({ rate: 12_000, concurrency: 200 }),
    wanted: 3,
  },
  { what: 'few rows left', runs: [run({ done: 399_900 })], there: workers(1), wanted: 1 },
  { what: 'few rows left, in busy hands', runs: [run({ done: 399_900 })], there: workers(4), wanted: 4 },
  {
    what: 'few rows left, in the hands of two',
    runs: [run({ done: 399_970 })],
    there: [...workers(2), ...workers(2, { active: 0 })],
    wanted: 2,
  },
  {
    what: 'few rows left, in the hands of three, fewer than keep them busy for a second',
    runs: [run({ done: 399_970 })],
    there: [...workers(3), ...workers(1, { active: 0 })],
    wanted: 3,
  },
  {
    what: 'an idle worker with a second of work left',
    runs: [run({ done: 399_900 })],
    there: [...workers(3), ...workers(1, { active: 0 })],
    wanted: 4,
  },
  {
    what: 'two runs, the second of which has many rows left',
    runs: [run({ done: 399_999 }), run({ id: 's' })],
    there: workers(1),
    wanted: 4,
  },
];

test.each(situations)('$what: $wanted', ({ runs = [run()], there, wanted, ...rest }) => {
  expect(workersWanted(runs, there, 'pace' in rest ? rest.pace : pace())).toBe(wanted);
});

test('a fleet that follows the number comes to rest, whatever the noise of durations', () => {
  let count = 1;
  const counts = Array.from({ length: 200 }, (_, look) => {
    count = workersWanted([run()], workers(count, { seconds: 0.222 + 0.01 * Math.sin(look) }), pace());
    return count;
  });
  expect(new Set(counts.slice(10)).size).toBe(1);
});
