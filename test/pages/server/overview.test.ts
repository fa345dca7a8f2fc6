import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { operations } from '../../../jobs/index.ts';
import { steadyNow } from '../../../src/base/async/clock.ts';
import { openScheduleStore } from '../../../src/daemon/schedule/store.ts';
import { noOutcomes } from '../../../src/domain/terms.ts';
import type { Cluster } from '../../../src/engine/cluster/cluster.ts';
import type { PublishedPace } from '../../../src/engine/cluster/entries.ts';
import { enterState } from '../../../src/engine/run/record/record.ts';
import { viewOfEntry } from '../../../src/engine/run/record/run-view.ts';
import { openRunStore } from '../../../src/engine/run/record/store.ts';
import { Overview, runData } from '../../../src/pages/server/overview.ts';
import { nightly } from '../../daemon/schedule/nightly.ts';
import { plannedRecord } from '../../engine/run/planned-record.ts';
import { ago, runEntry, workerEntry } from '../../helpers/cluster-entries.ts';
import { temporaryFolder } from '../../helpers/temporary-folder.ts';

test('the time left depends on the rows without a result, and is absent while nothing is called', () => {
  const entry = runEntry({ rows: 100, rowsPerSecond: 10, startedAt: ago(6_000) });
  const live = { entry, workers: [workerEntry()], pace: undefined };
  expect(runData(viewOfEntry(entry, live))).toMatchObject({ etaSeconds: 10, isElsewhere: true });
  const alone = runData(viewOfEntry(entry, { ...live, workers: [] }));
  expect(alone).toMatchObject({
    waiting:
      'for a worker: none serves https://api.example.com; start one: cqbatch worker --base-url https://api.example.com',
  });
  expect(alone.etaSeconds).toBeUndefined();
  const fresh = { ...entry, startedAt: ago(0) };
  expect(runData(viewOfEntry(fresh, { ...live, entry: fresh, workers: [] })).waiting).toBeUndefined();
  const pace: PublishedPace = {
    isKept: true,
    concurrency: 1,
    phase: 'waiting',
    refuses503: false,
    accepted: 0,
    rejected: 0,
    reason: 'the API asks to wait',
    runs: [],
    workers: 1,
    seenAt: entry.seenAt,
    restUntil: steadyNow() + 60_000,
  };
  expect(runData(viewOfEntry(entry, { ...live, pace }))).toMatchObject({
    waiting: 'the API asks to wait',
    waitUntil: expect.stringMatching(/:\d\d\.000Z$/),
  });
  const told = { ...pace, restBy: 'Retry-After: 7200' };
  expect(runData(viewOfEntry(entry, { ...live, pace: told })).waiting).toMatch(
    /^the API asks to wait; "Retry-After: 7200" asks for this wait; .+: cqbatch set-rate \S+ 5\/s /,
  );
  // An API that is away is tested every few seconds, so rests are short.
  const testing = {
    ...pace,
    reason: 'api.example.com is away: 502 Bad Gateway',
    restUntil: steadyNow() + 10,
  };
  const out = runData(viewOfEntry(entry, { ...live, pace: testing }));
  expect(out).toMatchObject({ waiting: 'api.example.com is away: 502 Bad Gateway' });
  expect(out.etaSeconds).toBeUndefined();
  const paused = { ...entry, state: 'paused' };
  expect(runData(viewOfEntry(paused, { ...live, entry: paused })).waiting).toBe('until it is unpaused');
});

test('an open run is included regardless of its age', async () => {
  const store = openRunStore(join(await temporaryFolder(), '.cqbatch'), operations);
  const ids = Array.from({ length: 52 }, (_, index) => `r-${String(index).padStart(2, '0')}`);
  for (const id of ids) {
    await store.create(id);
    const counts = { ...noOutcomes(), succeeded: plannedRecord.plan.rows };
    await store.save(enterState({ ...plannedRecord, id, counts }, 'completed'));
  }
  const overview = new Overview(store, undefined);
  onTestFinished(() => overview.close());
  const told = async (...wanted: string[]) => (await overview.look(new Set(wanted))).runs.map(({ id }) => id);
  expect(await told()).toEqual(ids.slice(2).toReversed());
  // The others are not part of each snapshot.
  expect((await overview.look(new Set())).older.map(({ id }) => id)).toEqual(['r-01', 'r-00']);
  expect((await overview.look(new Set(['r-00']))).older.map(({ id }) => id)).toEqual(['r-01']);
  expect(await told('r-00')).toEqual([...ids.slice(2).toReversed(), 'r-00']);
});

test('while Redis is away, its runs and workers were last seen before that', async () => {
  const store = openRunStore(join(await temporaryFolder(), '.cqbatch'), operations);
  const here = { runs: [runEntry()], workers: [workerEntry()], pace: undefined };
  let isAway = false;
  const answer = async <Value>(value: Value): Promise<Value> => {
    if (isAway) throw new Error('away');
    return value;
  };
  const cluster = {
    runs: () => answer(here.runs),
    workers: () => answer(here.workers),
    pace: () => answer(here.pace),
  } as Partial<Cluster> as Cluster;
  const overview = new Overview(store, { name: 'redis://r', cluster, trouble: () => 'Redis is away' });
  onTestFinished(() => overview.close());
  const before = await overview.look(new Set());
  expect(before.workers).toMatchObject([{ pid: 2 }]);
  expect(before.workers[0]).not.toHaveProperty('lastSeenAt');
  expect(before.runs[0]).not.toHaveProperty('lastSeenAt');
  isAway = true;
  const away = await overview.look(new Set());
  expect(away.datastore?.since).toEqual(expect.any(String));
  expect(away.workers).toMatchObject([{ pid: 2, lastSeenAt: away.datastore?.since }]);
  expect(away.runs).toMatchObject([{ isElsewhere: true, lastSeenAt: away.datastore?.since }]);
});

test.each([
  [true, 'Redis is away'],
  [false, undefined],
])('a run of this machine waits for Redis only if its rows are there: %s', (isShared, waiting) => {
  const view = viewOfEntry(runEntry(), undefined);
  const here = { ...view, local: { states: [], resumable: false, isShared } };
  expect(runData(here, 'Redis is away').waiting).toBe(waiting);
});

test.each([
  [2, 2],
  [0, undefined],
])('%s rows that wait for a retry are told as %s', (held, told) => {
  const local = { states: [], resumable: true, isShared: false, held };
  expect(runData({ ...viewOfEntry(runEntry(), undefined), local }).held).toBe(told);
});

test('a schedule tells when it is due next, and nothing while it is paused', async () => {
  const { stateDir } = openRunStore(join(await temporaryFolder(), '.cqbatch'), operations);
  const schedules = openScheduleStore(stateDir);
  const hourly = { ...nightly, name: 'hourly', cron: '0 * * * *', tz: 'UTC' };
  for (const schedule of [hourly, { ...hourly, name: 'held', paused: true }]) await schedules.add(schedule);
  const overview = new Overview(openRunStore(stateDir, operations), undefined);
  onTestFinished(() => overview.close());
  const told = (await overview.look(new Set())).schedules;
  expect(told.map(({ name, next }) => [name, next.length]).toSorted()).toEqual([
    ['held', 0],
    ['hourly', 3],
  ]);
});
