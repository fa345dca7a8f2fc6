import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Job, Worker } from 'bullmq';
import { expect, test, vi } from 'vitest';
import { operations } from '../../../jobs/index.ts';
import { neverAborted } from '../../../src/base/async/waiting.ts';
import type { RowResult } from '../../../src/domain/row-result.ts';
import type { Priority } from '../../../src/domain/terms.ts';
import type { RowTask } from '../../../src/engine/queue/payload.ts';
import type { OpenRun } from '../../../src/engine/run/record/open-run.ts';
import { runPolicy } from '../../../src/engine/run/record/run-policy.ts';
import { openRunStore } from '../../../src/engine/run/record/store.ts';
import { built } from '../../helpers/built.ts';
import { plannedRecord } from '../run/planned-record.ts';
import { taskOf } from './tasks.ts';

const { openEmbedded } = await built<typeof import('../../../src/engine/datastore/embedded/embedded.ts')>(
  'engine/datastore/embedded/embedded',
);
const { bullmqOn } = await built<typeof import('../../../src/engine/queue/bullmq.ts')>('engine/queue/bullmq');
const { encodeReturn } =
  await built<typeof import('../../../src/engine/queue/payload.ts')>('engine/queue/payload');
const { openRowQueue } =
  await built<typeof import('../../../src/engine/queue/row-queue.ts')>('engine/queue/row-queue');
const { openJournal } =
  await built<typeof import('../../../src/engine/journal/open.ts')>('engine/journal/open');
const { Coordinator } = await built<typeof import('../../../src/engine/run/feed/coordinator.ts')>(
  'engine/run/feed/coordinator',
);
const { answerFile } = await built<typeof import('../../../src/engine/run/record/answer-file.ts')>(
  'engine/run/record/answer-file',
);
const { FeedWindow } = await built<typeof import('../../../src/engine/run/feed/feed-window.ts')>(
  'engine/run/feed/feed-window',
);
const { reconcile } =
  await built<typeof import('../../../src/engine/run/feed/reconcile.ts')>('engine/run/feed/reconcile');

function* tasksOf(rows: number): Generator<RowTask> {
  for (let row = 1; row <= rows; row++)
    yield taskOf(row, { operation: 'restore-evaluation', subject: `${row}` });
}

async function* inOnePart<Item>(items: Iterable<Item>): AsyncGenerator<Iterable<Item>> {
  yield items;
}

interface Scene {
  readonly run: OpenRun;
  start(priority?: Priority): ReturnType<typeof Coordinator.open>;
}

async function withRun(work: (scene: Scene) => Promise<void>, rowCount = 200): Promise<void> {
  const stateDir = await mkdtemp(join(tmpdir(), 'cqbatch-coordinator-'));
  const datastore = await openEmbedded({ stateDir, purpose: 'test' });
  const rows = openRowQueue(datastore, { baseUrl: 'rows-1' });
  const journal = await openJournal(join(stateDir, 'journal.jsonl'), { runId: plannedRecord.id });
  const lost = neverAborted;
  const answers = answerFile(stateDir);
  const store = openRunStore(stateDir, operations);
  const record = { ...plannedRecord, plan: { ...plannedRecord.plan, rows: rowCount, callable: rowCount } };
  const policy = runPolicy(record, journal, operations);
  const run = { store, record, datastore, rows, journal, policy, answers, lost };
  const silent = { onCollected: async () => {}, onError: () => {} };
  const start = async (priority: Priority = 'normal') => {
    const tasks = inOnePart(tasksOf(rowCount));
    const window = new FeedWindow({ concurrency: 1 });
    return Coordinator.open(run, { tasks, window, priority: () => priority, ...silent });
  };
  await work({ run, start });
  await journal.close();
  await rows.close();
  await datastore.close();
  await rm(stateDir, { recursive: true });
}

/** A result of the first row. */
function resultOf(outcome: RowResult['outcome']): RowResult {
  const known = { row: 1, operation: 'restore-evaluation', message: '', attempts: 1, unclear: false };
  return { ...known, outcome, code: outcome === 'succeeded' ? 'OK' : 'NOT_FOUND' };
}

/** A batch as a worker claims it. */
async function claimed({ datastore, rows }: Pick<OpenRun, 'datastore' | 'rows'>) {
  const { classes, options } = bullmqOn(datastore);
  const worker = new classes.Worker(rows.name, null, { ...options, autorun: false });
  let job = await worker.getNextJob('token');
  while (job === undefined) job = await worker.getNextJob('token');
  return { worker, job };
}

/** Drains a run, however long that takes here, while its process sees no time pass: nothing may be left that only time would end. */
async function drainWithoutTime(coordinator: Awaited<ReturnType<Scene['start']>>): Promise<boolean> {
  vi.useFakeTimers({ toFake: ['performance'] });
  try {
    return await coordinator.drain(neverAborted);
  } finally {
    vi.useRealTimers();
  }
}

test('a run that is stopped between announcing its batches and adding them waits for none of them', () =>
  withRun(async ({ run: { journal }, start }) => {
    const coordinator = await start();
    const append = journal.append.bind(journal);
    journal.append = async (entries) => {
      const added = await append(entries);
      if (entries.some(({ type }) => type === 'fed')) coordinator.end({ state: 'interrupted' });
      return added;
    };
    expect(await coordinator.run()).toEqual({ state: 'interrupted' });
    expect([...journal.unsettledRows()]).toHaveLength(200);
    expect(await drainWithoutTime(coordinator)).toBe(true);
    expect([...journal.unsettledRows()]).toEqual([]);
    await coordinator.close();
  }));

test('rows that a stop takes back without a call are returned at once, so that a later kill marks none of them', () =>
  withRun(async ({ run: { journal }, start }) => {
    const coordinator = await start();
    const running = coordinator.run();
    await expect.poll(() => [...journal.unsettledRows()].some((row) => journal.isAdded(row))).toBe(true);
    coordinator.end({ state: 'interrupted' });
    await running;
    const append = journal.append.bind(journal);
    const unsettled: number[][] = [];
    journal.append = async (entries) => {
      if (entries.some(({ type }) => type === 'settled'))
        unsettled.push([...journal.unsettledRows()].filter((row) => journal.isAdded(row)));
      return append(entries);
    };
    expect(await drainWithoutTime(coordinator)).toBe(true);
    expect(unsettled).toEqual([[]]);
    await coordinator.close();
  }));

test('a batch that a worker claimed as it stopped does not keep a run waiting', () =>
  withRun(async ({ run, start }) => {
    const coordinator = await start();
    const running = coordinator.run();
    // As when the reply to the claim is lost with the connection of the worker.
    const { worker, job } = await claimed(run);
    // Longer than a test may take.
    await job.extendLock('token', 3_600_000);
    await worker.close(true);
    coordinator.end({ state: 'cancelled' });
    await running;
    expect(await drainWithoutTime(coordinator)).toBe(true);
    expect([...run.journal.unsettledRows()]).toEqual([]);
    await coordinator.close();
  }));

test('a coordinator that cannot begin leaves nothing open that would collect in place of the next one', () =>
  withRun(async ({ run }) => {
    const closed = vi.spyOn(Worker.prototype, 'close');
    vi.spyOn(run.journal, 'append').mockRejectedValueOnce(new Error('its folder was moved away'));
    const reconciled = reconcile(run, { signal: neverAborted, onError: () => {} });
    await expect(reconciled).rejects.toThrow('its folder was moved away');
    expect(closed).toHaveBeenCalledOnce();
    vi.restoreAllMocks();
  }));

test('a refusal that keeps a stopped run waiting is told', () =>
  withRun(async ({ run, start }) => {
    const before = await start();
    const running = before.run();
    const { worker } = await claimed(run);
    before.end({ state: 'interrupted' });
    await running;
    await before.close();
    vi.spyOn(run.rows, 'reprioritize').mockRejectedValue(new Error('READONLY'));
    // As on a shared datastore, where a worker of another machine has the batch.
    vi.spyOn(run.rows, 'releaseClaims').mockResolvedValue();
    const told = new AbortController();
    const how = { signal: told.signal, onError: ({ message }: Error) => told.abort(message) };
    expect(await reconcile(run, how)).toBe(false);
    expect(told.signal.reason).toBe('READONLY');
    await worker.close();
    vi.restoreAllMocks();
  }));

test('a row that is handed back though the journal has its result is not fed again', () =>
  withRun(async ({ run: { datastore, rows, journal }, start }) => {
    const coordinator = await start();
    const running = coordinator.run();
    const { worker, job } = await claimed({ datastore, rows });
    // As after the datastore was replaced by an older copy.
    await journal.append([{ type: 'row', result: resultOf('succeeded') }]);
    const unfinishedRow = { row: 1, attemptsUsed: 1, delayMs: 0 };
    await job.moveToCompleted(encodeReturn({ results: [], unfinishedRows: [unfinishedRow] }), 'token', false);
    expect(await running).toEqual({ state: 'completed' });
    await worker.close();
    await coordinator.close();
  }, 1));

test('a row that gets its result while the journal records its feeding is not called again', () =>
  withRun(async ({ run: { rows, journal }, start }) => {
    const coordinator = await start();
    const append = journal.append.bind(journal);
    journal.append = async (entries) => {
      const added = await append(entries);
      if (entries.some(({ type }) => type === 'fed'))
        await append([{ type: 'row', result: resultOf('succeeded') }]);
      return added;
    };
    expect(await coordinator.run()).toEqual({ state: 'completed' });
    expect(await rows.countWaiting()).toBe(0);
    await coordinator.close();
  }, 1));

test('batches in the datastore take the priority of a resumed run', () =>
  withRun(async ({ run: { rows }, start }) => {
    const before = await start('low');
    const running = before.run();
    await expect.poll(() => rows.countWaiting()).toBeGreaterThan(0);
    before.end({ state: 'interrupted' });
    await running;
    await before.close();
    const changed = vi.spyOn(Job.prototype, 'changePriority');
    const next = await start('high');
    await expect.poll(() => changed).toHaveBeenCalled();
    expect(changed.mock.calls).toEqual(changed.mock.calls.map(() => [{ priority: 1 }]));
    next.end({ state: 'interrupted' });
    expect(await next.drain(neverAborted)).toBe(true);
    await next.close();
    changed.mockRestore();
  }));
