import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { operations } from '../../../jobs/index.ts';
import { steadyNow, timeOfDay } from '../../../src/base/async/clock.ts';
import { openScheduleStore } from '../../../src/daemon/schedule/store.ts';
import { noOutcomes } from '../../../src/domain/terms.ts';
import type { Cluster } from '../../../src/engine/cluster/cluster.ts';
import type { PublishedPace, RunEntry } from '../../../src/engine/cluster/entries.ts';
import { factsOfEntry } from '../../../src/engine/run/facts/make-facts.ts';
import { enterState } from '../../../src/engine/run/record/record.ts';
import { openRunStore } from '../../../src/engine/run/record/store.ts';
import { openOverview, runData } from '../../../src/pages/server/overview.ts';
import {
  figuresText,
  type RunData,
  reasonOf,
  stateOf,
  waitText,
} from '../../../src/pages/server/page-data.ts';
import { nightly } from '../../daemon/schedule/nightly.ts';
import { plannedRecord } from '../../engine/run/planned-record.ts';
import { ago, runEntry, workerEntry } from '../../helpers/cluster-entries.ts';
import { temporaryFolder } from '../../helpers/temporary-folder.ts';

const entry = runEntry({ rows: 100, rowsPerSecond: 10, startedAt: ago(6_000) });
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
  restUntil: steadyNow() + 600_000,
};
const away = 'api.example.com is away: 502 Bad Gateway';

/** What a page is told of a run that a worker serves, at this pace. */
const told = (changes: Partial<RunEntry>, pace?: PublishedPace, workers = [workerEntry()]) => {
  const changed = { ...entry, ...changes };
  return runData(factsOfEntry(changed, { entry: changed, workers, pace }));
};

test('the time left depends on the rows without a result', () => {
  expect(figuresText(told({}))).toBe('0/100 (0 %), 10 s left, 10/s');
  expect(told({}).wait).toBeUndefined();
  expect(told({ startedAt: ago(0) }, undefined, []).wait).toBeUndefined();
});

test.each<[what: string, data: RunData, text: string | RegExp]>([
  [
    'for a worker',
    told({}, undefined, []),
    'Waiting for a worker: none serves https://api.example.com; start one: cqbatch worker --base-url https://api.example.com.',
  ],
  ['as the API asks', told({}, pace), /^Waiting (10 min|9 min 59 s)\b.* \(the API asks to wait\)\.$/],
  [
    'for long',
    told({}, { ...pace, restBy: 'Retry-After: 7200' }),
    /\(the API asks to wait\)\. "Retry-After: 7200" asks for this wait; .+: cqbatch set-rate \S+ 5\/s /,
  ],
  // An API that is away is tested every few seconds, so rests are short.
  [
    'for an API that is away',
    told({}, { ...pace, reason: away, restUntil: steadyNow() + 10 }),
    `Waiting (${away}).`,
  ],
  ['for its user', told({ state: 'paused' }), 'Paused: no row is called until you unpause it.'],
])('a run that waits %s says so, and no time left', (_what, data, expected) => {
  expect(waitText(data)).toEqual(typeof expected === 'string' ? expected : expect.stringMatching(expected));
  expect(figuresText(data)).not.toContain(' left');
});

test('a run that waits as the API asks says until when, always the same to the second', () => {
  const at = Math.round(timeOfDay(pace.restUntil ?? 0).getTime() / 1_000) * 1_000;
  expect(told({}, pace).wait).toMatchObject({ until: new Date(at).toISOString() });
  expect(told({}, { ...pace, restUntil: steadyNow() + 10 }).wait).toMatchObject({ until: null });
});

test('an open run is included regardless of its age', async () => {
  const store = openRunStore(join(await temporaryFolder(), '.cqbatch'), operations);
  const ids = Array.from({ length: 502 }, (_, index) => `r-${String(index).padStart(3, '0')}`);
  const counts = { ...noOutcomes(), succeeded: plannedRecord.plan.rows };
  for (const [index, id] of ids.entries()) {
    await mkdir(store.folder(id), { recursive: true });
    const states = [{ state: 'planned', at: new Date(index).toISOString() }] as const;
    await store.save(enterState({ ...plannedRecord, id, counts, states: [...states] }, 'completed'));
  }
  const overview = openOverview(store, undefined);
  onTestFinished(() => overview.close());
  const idsOf = (runs: readonly { readonly id: string }[]) => runs.map(({ id }) => id);
  const latest = ids.slice(2).toReversed();
  const some = await overview.read(new Set());
  expect([idsOf(some.runs), idsOf(some.ended)]).toEqual([[], latest]);
  const more = await overview.read(new Set(['r-000']));
  expect(idsOf(more.ended)).toEqual([...latest, 'r-000']);
});

test('while Redis is away, its runs and workers were last seen before that', async () => {
  const store = openRunStore(join(await temporaryFolder(), '.cqbatch'), operations);
  let isAway = false;
  const answer = async <Value>(value: Value): Promise<Value> => {
    if (isAway) throw new Error('away');
    return value;
  };
  const cluster = {
    runs: () => answer([runEntry()]),
    workers: () => answer([workerEntry()]),
    pace: () => answer(undefined),
  } as Partial<Cluster> as Cluster;
  const overview = openOverview(store, { name: 'redis://r', cluster, trouble: () => 'Redis is away' });
  onTestFinished(() => overview.close());
  const before = await overview.read(new Set());
  expect(before.workers).toMatchObject([{ pid: 2 }]);
  expect(before.datastore?.away).toBeUndefined();
  expect(before.runs).toMatchObject([{ throughput: { of: 'now' } }]);
  isAway = true;
  const away = await overview.read(new Set());
  const { since } = away.datastore?.away ?? {};
  expect(away.datastore?.away).toEqual({ since: expect.any(String), why: 'Redis is away' });
  expect(away.workers).toMatchObject([{ pid: 2 }]);
  // What it does now is unknown.
  expect(away.runs).toMatchObject([{ lastSeenAt: since, throughput: undefined }]);
});

test('a worker that fell silent is lost at its last beat, with the calls that it had', async () => {
  const store = openRunStore(join(await temporaryFolder(), '.cqbatch'), operations);
  const silent = workerEntry({ id: 'silent', pid: 3, active: 3, seenAt: ago(60_000) });
  const known = [workerEntry(), silent];
  const cluster = {
    runs: async () => [runEntry()],
    workers: async (_, withinMs = 15_000) => known.filter(({ seenAt }) => seenAt > ago(withinMs)),
    pace: async () => undefined,
  } as Partial<Cluster> as Cluster;
  const overview = openOverview(store, { name: 'redis://r', cluster, trouble: () => undefined });
  onTestFinished(() => overview.close());
  const workers = async () => (await overview.read(new Set())).workers;
  const lost = { pid: 3, active: 3, lostAt: silent.seenAt };
  expect(await workers()).toMatchObject([{ pid: 2 }, lost]);
  // Each reading finds another age, which differs by milliseconds.
  known[1] = { ...silent, seenAt: ago(60_001) };
  expect(await workers()).toMatchObject([{ pid: 2 }, lost]);
  known[1] = { ...silent, seenAt: ago(0) };
  expect((await workers()).map(({ lostAt }) => lostAt)).toEqual([undefined, undefined]);
  known[1] = { ...silent, seenAt: ago(3_601_000) };
  expect(await workers()).toMatchObject([{ pid: 2 }]);
});

test('a schedule tells when it is due next, and nothing while it is paused', async () => {
  const { stateDir } = openRunStore(join(await temporaryFolder(), '.cqbatch'), operations);
  const schedules = openScheduleStore(stateDir);
  const hourly = { ...nightly, name: 'hourly', cron: '0 * * * *', tz: 'UTC' };
  for (const schedule of [hourly, { ...hourly, name: 'held', paused: true }]) await schedules.add(schedule);
  const overview = openOverview(openRunStore(stateDir, operations), undefined);
  onTestFinished(() => overview.close());
  const told = (await overview.read(new Set())).schedules;
  expect(told.map(({ name, next }) => [name, next.length]).toSorted()).toEqual([
    ['held', 0],
    ['hourly', 3],
  ]);
});

test('a run tells whose reports are in its report.html', async () => {
  const store = openRunStore(join(await temporaryFolder(), '.cqbatch'), operations);
  const { folder } = await store.create('r');
  await store.save(enterState({ ...plannedRecord, id: 'r' }, 'completed'));
  const overview = openOverview(store, undefined);
  onTestFinished(() => overview.close());
  for (const id of [undefined, 'r', 'none', '..']) expect(await overview.report(id)).toBeUndefined();
  await writeFile(join(folder, 'report.html'), '');
  expect(await overview.report('r')).toEqual([]);
  await writeFile(join(folder, 'summary.json'), JSON.stringify({ retries: ['again'] }));
  expect(await overview.report('r')).toEqual(['again']);
});

const at = '2026-01-01T00:00:00.000Z';

test.each([
  ['paused', [{ state: 'paused', at, reason: 'lunch' }], 'lunch'],
  ['running', [{ state: 'running', at, reason: 'again' }], undefined],
  ['interrupted', [{ state: 'running', at }], 'its process died; to continue, type: cqbatch resume run'],
] as const)('the reason of a run that is %s', (state, states, reason) => {
  const resume = {
    title: 'Continue',
    text: '',
    command: 'cqbatch resume run',
    group: 'not_attempted',
    rows: 1,
  } as const;
  const local = { states: [...states], steps: [resume], isShared: false, activeMs: 0 };
  expect(reasonOf({ ...factsOfEntry(runEntry(), undefined), state, local })).toBe(reason);
});

test('a run that gave up says so, in the colors of one that is halted', () => {
  const view = { ...factsOfEntry({ ...entry, state: 'halted' }, undefined), ended: true };
  const states = ['stuck', 'guard'].map((because) => stateOf(runData({ ...view, because })));
  expect(states).toEqual([
    { text: 'gave up', kind: 'halted' },
    { text: 'halted', kind: 'halted' },
  ]);
});
