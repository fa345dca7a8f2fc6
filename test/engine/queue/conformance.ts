import { Job } from 'bullmq';
import { afterAll, afterEach, beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest';
import { deferred, neverAborted } from '../../../src/base/async/waiting.ts';
import type { CqbatchError } from '../../../src/base/errors/errors.ts';
import { noHistory, unknownAttempt } from '../../../src/domain/attempts.ts';
import type { RowResult } from '../../../src/domain/row-result.ts';
import type { Priority } from '../../../src/domain/terms.ts';
import type { Datastore } from '../../../src/engine/datastore/datastore.ts';
import type { BatchQueue } from '../../../src/engine/queue/batch-queue.ts';
import type { BatchQueueOptions, CollectedBatch } from '../../../src/engine/queue/batch-queue-options.ts';
import type { BatchWorkerOptions, BatchWorker as Worker } from '../../../src/engine/queue/batch-worker.ts';
import type { Claim, RowVerdict } from '../../../src/engine/queue/claimed-batch.ts';
import type { LostEntries } from '../../../src/engine/queue/lost-entries.ts';
import type { BatchJobData, BatchReturn, RowCall, RowTask } from '../../../src/engine/queue/payload.ts';
import type { RowQueue } from '../../../src/engine/queue/row-queue.ts';
import { built } from '../../helpers/built.ts';
import { callFor, resultsOf, taskOf } from './tasks.ts';
import { newBatch, policy, unheard } from './unheard.ts';

const { bullmqOn, obliterate, promote } =
  await built<typeof import('../../../src/engine/queue/bullmq.ts')>('engine/queue/bullmq');
const { openRowQueue } =
  await built<typeof import('../../../src/engine/queue/row-queue.ts')>('engine/queue/row-queue');
const { BatchWorker } =
  await built<typeof import('../../../src/engine/queue/batch-worker.ts')>('engine/queue/batch-worker');
const { fatalError } = await built<typeof import('../../../src/base/errors/errors.ts')>('base/errors/errors');
const { encodeBatch } =
  await built<typeof import('../../../src/engine/queue/payload.ts')>('engine/queue/payload');
const { openBatchQueue } =
  await built<typeof import('../../../src/engine/queue/batch-queue.ts')>('engine/queue/batch-queue');

type Processor = (task: RowCall, claim: Claim, signal: AbortSignal) => RowVerdict | Promise<RowVerdict>;

const awkward = 'NUL \u0000, lone \ud800 and \udc00, emoji 🎧, line\nbreak, "quotes", אבג, =cmd()';

function tasksOf(rows: number, first = 1, title = awkward): RowTask[] {
  return Array.from({ length: rows }, (_, index) =>
    taskOf(first + index, { subject: '9223372036854775807', values: { title } }),
  );
}

function succeeded({ row, operation, history }: RowCall, more: Partial<RowResult> = {}): RowVerdict {
  const { attempts, unclear } = history ?? noHistory;
  const done = { outcome: 'succeeded', code: 'OK', message: '', attempts: attempts + 1, unclear } as const;
  return { kind: 'finished', result: { row, operation, ...done, ...more } };
}

const succeed: Processor = (task) => succeeded(task);

const numbersOf = (rows: readonly { readonly row: number }[] = []): number[] => rows.map(({ row }) => row);

/** From now on the system's clock is off by this much; time passes as before. */
function setClock(byMs: number): void {
  vi.restoreAllMocks();
  const right = Date.now;
  vi.spyOn(Date, 'now').mockImplementation(() => right() + byMs);
}

/** Looks for lost batches as if a minute had passed. */
async function lookLater(batchQueue: BatchQueue): Promise<void> {
  const later = performance.now() + 60_000;
  vi.spyOn(performance, 'now').mockImplementation(() => later);
  await batchQueue.refresh();
  vi.restoreAllMocks();
}

/** Does something before or after the withdrawal of a batch looks whether a worker has it. */
function atWithdrawal(when: 'before' | 'after', work: (job: Job) => Promise<unknown>): void {
  const { isActive } = Job.prototype;
  vi.spyOn(Job.prototype, 'isActive').mockImplementationOnce(async function (this: Job) {
    if (when === 'before') await work(this);
    const active = await isActive.call(this);
    if (when === 'after') await work(this);
    return active;
  });
}

const history = { attempts: 1, unprocessed: 0, unclear: false, lastCode: 'CODE', lastMessage: awkward };

/**
 * What every datastore must do alike: the promises on which the coordinator and the worker rely. What a test opens is closed when it ends.
 *
 * @param part tests that send each command and script once are enough where only the way to the same server differs
 */
export function describeQueueOn(
  name: string,
  open: () => Promise<Datastore>,
  part: 'all' | 'each command' = 'all',
): void {
  describe(`the queue on ${name}`, () => {
    let datastore: Datastore;
    let runs = 0;

    beforeAll(async () => {
      datastore = await open();
    });
    afterAll(() => datastore.close());
    afterEach(() => void vi.restoreAllMocks());

    function workerOn(
      queue: RowQueue,
      process: Processor,
      options: Partial<BatchWorkerOptions> = {},
    ): Worker {
      const worker = new BatchWorker(datastore, queue, {
        concurrency: 10,
        prepare: callFor,
        process: async (task, claim, signal) => {
          if (!(await claim.intend())) return { kind: 'returned', history: task.history ?? noHistory };
          return process(task, claim, signal);
        },
        onRefused() {},
        onError() {},
        ...options,
      });
      onTestFinished(() => worker.stop(1_000));
      return worker;
    }

    type RunOptions = Partial<BatchQueueOptions> & {
      readonly concurrency?: number;
      readonly beforeCollecting?: () => Promise<void>;
    };

    async function begin(process: Processor = succeed, options: RunOptions = {}) {
      const { concurrency = 10, beforeCollecting = async () => {}, ...batchOptions } = options;
      runs += 1;
      const runId = `20260101-000000-a${100 + runs}`;
      const queue = openRowQueue(datastore, { baseUrl: `rows-${runs}` });
      onTestFinished(() => queue.close());
      const batches: CollectedBatch[] = [];
      const errors: Error[] = [];
      const early: RowResult[] = [];
      let changed = (): void => {};
      const onError = (error: Error): void => void errors.push(error);
      const batchQueue = await openBatchQueue(datastore, {
        ...unheard(runId, queue),
        collect: async (batch) => {
          await beforeCollecting();
          batches.push(batch);
          changed();
        },
        // Each batch adds a hundred bytes.
        journalEnd: () => 100 * batches.length,
        onResults: async (results) => void early.push(...resultsOf(results)),
        onError,
        ...batchOptions,
      });
      onTestFinished(() => batchQueue.close());
      const worker = workerOn(queue, process, { concurrency, onError });
      const add = (tasks: readonly RowTask[]) => batchQueue.add(newBatch(runId, tasks), neverAborted);
      return {
        runId,
        queue,
        worker,
        batchQueue,
        batches,
        errors,
        early,
        add,
        results: () => batches.flatMap(({ results }) => resultsOf(results)).toSorted((a, b) => a.row - b.row),
        addRows: (rows: number, first = 1) => add(tasksOf(rows, first)),
        async collected(wanted: number) {
          while (batches.length < wanted) {
            await new Promise<void>((resolve) => {
              changed = resolve;
            });
          }
        },
      };
    }

    /** Runs batches through a worker until all are collected. */
    async function runThrough(batches: readonly RowTask[][], process: Processor) {
      const run = await begin(process);
      for (const tasks of batches) await run.add(tasks);
      await run.collected(batches.length);
      return run;
    }

    /** Runs a batch of two rows up to a moment of its collection, which goes on when the test ends it. */
    async function collecting(moment: 'beforeCollecting' | 'onAnswers') {
      const begun = deferred();
      const mayEnd = deferred();
      const wait = async (): Promise<void> => {
        begun.resolve();
        await mayEnd.promise;
      };
      const run = await begin(
        (task) => ({
          ...succeeded(task),
          answer: { row: task.row, at: '2026-01-01T00:00:00.000Z', status: 200, headers: {}, body: '' },
        }),
        { concurrency: 1, [moment]: wait },
      );
      await run.addRows(2);
      await begun.promise;
      return { run, batches: batchesOf(run), mayEnd };
    }

    interface OfRun {
      readonly runId: string;
      readonly queue: RowQueue;
    }

    /** The batches of the run in another process. */
    async function openAgain({ runId, queue }: OfRun, options: Partial<BatchQueueOptions> = {}) {
      const collected = deferred<CollectedBatch>();
      const batchQueue = await openBatchQueue(datastore, {
        ...unheard(runId, queue),
        collect: async (batch) => collected.resolve(batch),
        ...options,
      });
      onTestFinished(() => batchQueue.close());
      return { batchQueue, collected: collected.promise };
    }

    /** A queue, bypassing the code that looks after it. */
    function queueNamed(name: string) {
      const { classes, options } = bullmqOn(datastore);
      const queue = new classes.Queue(name, options);
      onTestFinished(() => queue.close());
      return queue;
    }

    /** The queue of a run in which its batches are collected. */
    const batchesOf = ({ runId }: Pick<OfRun, 'runId'>) => queueNamed(`batches-${runId}`);

    test('collects every row of every batch once', async () => {
      const run = await runThrough([tasksOf(30), tasksOf(50, 31), tasksOf(1, 81)], succeed);
      expect(numbersOf(run.results())).toEqual(Array.from({ length: 81 }, (_, index) => index + 1));
      expect(run.batches.map(({ rows }) => rows).toSorted((a, b) => a - b)).toEqual([1, 30, 50]);
      expect(run.errors).toEqual([]);
    });

    test('claims batches of a higher priority first, and those of one priority in order of arrival', async () => {
      runs += 1;
      const queue = openRowQueue(datastore, { baseUrl: `rows-${runs}` });
      onTestFinished(() => queue.close());
      let urgency: Priority = 'low';
      const openRun = async (id: string, priority: () => Priority) =>
        (await openAgain({ runId: `${id}${runs}`, queue }, { priority })).batchQueue;
      const opened = {
        usual: await openRun('usual', () => 'normal'),
        other: await openRun('other', () => 'normal'),
        late: await openRun('late', () => urgency),
        urgent: await openRun('urgent', () => 'high'),
      };
      for (const id of ['late', 'usual', 'other', 'usual', 'late', 'urgent'] as const)
        await opened[id].add(newBatch(`${id}${runs}`, tasksOf(2)), neverAborted);
      expect(await queue.countWaiting()).toBe(6);
      const { classes, options } = bullmqOn(datastore);
      const worker = new classes.Worker(queue.name, null, { ...options, autorun: false });
      onTestFinished(() => worker.close(true));
      const claimed: string[] = [];
      const claim = async (): Promise<Job> => {
        const job = (await worker.getNextJob('token')) as Job;
        claimed.push(job.id?.split(/\d/)[0] ?? '');
        return job;
      };
      const job = await claim();
      // A batch that goes back is the next one.
      await job.moveToWait('token');
      await claim();
      await claim();
      expect(claimed).toEqual(['urgent', 'urgent', 'usual']);
      // The batches of a run take its new priority.
      urgency = 'high';
      await opened.late.refresh();
      for (let batch = 0; batch < 4; batch += 1) await claim();
      expect(claimed.slice(3)).toEqual(['late', 'late', 'other', 'usual']);
      expect(await queue.countWaiting()).toBe(0);
    });

    test('hands back a row with a long wait, with its history', async () => {
      const run = await begin((task) =>
        task.row === 1 ? { kind: 'retry', delayMs: 60_000, history } : succeeded(task),
      );
      await run.addRows(3);
      await run.collected(1);
      expect(numbersOf(run.results())).toEqual([2, 3]);
      const [task] = tasksOf(1);
      const kept = { history, attemptsUsed: 1 };
      expect(run.batches[0]?.unfinishedRows).toEqual([
        { row: 1, ...kept, delayMs: expect.any(Number), task: { ...task, ...kept } },
      ]);
    });

    test('claims no more than one batch while the worker rests', async () => {
      const run = await begin(succeed, { concurrency: 1 });
      run.worker.isResting = true;
      for (const row of [1, 2, 3]) await run.addRows(1, row);
      await expect.poll(() => run.queue.countWaiting()).toBeGreaterThanOrEqual(2);
      expect(run.worker.startedRows).toBe(0);
      run.worker.isResting = false;
      await run.collected(3);
    });

    test.each([0, -3_600_000, 3_600_000])(
      'hands a batch out again when its collection failed, even when the clock is set by %d ms',
      async (byMs) => {
        let tries = 0;
        const beforeCollecting = async (): Promise<void> => {
          tries += 1;
          if (tries > 1) return;
          setClock(byMs);
          throw new Error('disk full');
        };
        const run = await begin(succeed, { concurrency: 1, beforeCollecting });
        await run.addRows(3);
        await run.collected(1);
        expect([tries, run.results().length]).toEqual([2, 3]);
      },
    );

    test.each<[string, BatchJobData, string]>([
      ['of another version', { v: 99, text: '' }, 'UNKNOWN_PAYLOAD'],
      [
        'with a row that it cannot call',
        encodeBatch({ run: 'other', tasks: tasksOf(1), policy }),
        'UNKNOWN_OPERATION',
      ],
    ])('leaves a batch %s where it is, and takes no more', async (_title, data, code) => {
      const run = await begin();
      await run.worker.stop(1_000);
      const calls = queueNamed(run.queue.name);
      await calls.add('rows', data, { jobId: 'other-b-1' });
      const refused = deferred<CqbatchError>();
      const worker = workerOn(run.queue, succeed, {
        concurrency: 1,
        prepare: () => fatalError('UNKNOWN_OPERATION', 'unheard of'),
        onRefused: (reason) => refused.resolve(reason),
      });
      expect(await refused.promise).toMatchObject({ code });
      await worker.stop(1_000);
      expect(await (await calls.getJob('other-b-1'))?.getState()).toBe('waiting');
      await calls.remove('other-b-1');
    });

    test('removes unclaimed batches, and withdraws the rest', async () => {
      const calling = deferred();
      const mayFinish = deferred();
      const started: number[] = [];
      const run = await begin(
        async (task) => {
          started.push(task.row);
          if (task.row === 1) return succeeded(task);
          calling.resolve();
          await mayFinish.promise;
          return succeeded(task);
        },
        { concurrency: 1 },
      );
      await run.addRows(4);
      await calling.promise;
      const taken: BatchReturn[] = [];
      await run.batchQueue.drain(async (batch) => void taken.push(batch));
      mayFinish.resolve();
      await run.collected(1);
      expect([started, taken]).toEqual([[1, 2], []]);
      expect(numbersOf(run.results())).toEqual([1, 2]);
      expect(numbersOf(run.batches[0]?.unfinishedRows)).toEqual([3, 4]);
      await run.worker.stop(1_000);
      await run.addRows(2, 5);
      await run.batchQueue.drain(async (batch) => void taken.push(batch));
      await run.collected(2);
      expect(taken.flatMap(({ unfinishedRows }) => numbersOf(unfinishedRows))).toEqual([5, 6]);
      expect(run.batches[1]).toMatchObject({ results: [], unfinishedRows: [], missingRows: [] });
      expect(numbersOf(run.batches[1]?.returnedRows)).toEqual([5, 6]);
      await run.batchQueue.forget();
    });

    test.each([
      ['carried out, but its reply is lost', (once: () => Promise<void>) => once()],
      ['refused, because older data say that the queue is not paused', async () => {}],
    ])('removes a queue from the datastore although the command was %s', async (_title, before) => {
      runs += 1;
      const batches = batchesOf({ runId: `gone-${runs}` });
      await batches.add('row', { rows: [], bytes: 0 });
      const once = batches.obliterate.bind(batches, { force: true });
      vi.spyOn(batches, 'obliterate').mockImplementationOnce(async () => {
        await before(once);
        await batches.resume();
        await once();
      });
      await obliterate(batches);
      expect(await batches.getJobCounts('waiting')).toEqual({ waiting: 0 });
      expect(await batches.isPaused()).toBe(false);
    });

    test('makes a delayed job due, even when it has just become due', async () => {
      runs += 1;
      const batches = batchesOf({ runId: `due-${runs}` });
      const job = await batches.add('row', { rows: [], bytes: 0 }, { delay: 60_000 });
      await promote(job);
      await promote(job);
      expect(await job.isWaiting()).toBe(true);
      await obliterate(batches);
      await expect(promote(job)).resolves.toBeUndefined();
    });

    test('reports the finished rows of a batch that stays open', async () => {
      const mayFinish = deferred();
      const run = await begin(async (task) => {
        if (task.row === 3) await mayFinish.promise;
        return succeeded(task);
      });
      await run.addRows(3);
      const openRows = () => run.batchQueue.refresh().then(() => run.batchQueue.openRows);
      await expect.poll(openRows).toBe(1);
      expect(numbersOf(run.early).toSorted()).toEqual([1, 2]);
      mayFinish.resolve();
      await run.collected(1);
    });

    test('marks the rows that a lost worker was calling, and no others', async () => {
      const calling = deferred();
      const run = await begin(
        async (task, _claim, signal) => {
          if (task.row === 1) return succeeded(task);
          calling.resolve();
          await new Promise((resolve) => signal.addEventListener('abort', resolve));
          throw new Error('its process has died');
        },
        { concurrency: 2 },
      );
      await run.addRows(4);
      await calling.promise;
      run.worker.pause();
      const calls = queueNamed(run.queue.name);
      const [job] = await calls.getActive();
      await expect
        .poll(async () => (await run.queue.readLedger(job?.id ?? '', 0)).join())
        .toContain('"outcome"');
      // What the datastore does when the lock of a worker expires.
      for (const each of await calls.getActive()) await each.moveToWait('0');
      const histories = new Map<number, unknown>();
      workerOn(run.queue, (task) => {
        histories.set(task.row, task.history);
        return succeeded(task);
      });
      await run.collected(1);
      const perhapsCalled = { attempts: 1, unprocessed: 0, unclear: true, earlier: [unknownAttempt] };
      expect([...histories].toSorted(([a], [b]) => a - b)).toEqual([
        [2, perhapsCalled],
        [3, perhapsCalled],
        [4, undefined],
      ]);
      expect(run.results().map(({ row, unclear }) => [row, unclear])).toEqual([
        [1, false],
        [2, true],
        [3, true],
        [4, false],
      ]);
      await run.worker.stop(0);
    });

    test('marks the rows of a batch that is taken back without its ledger', async () => {
      const calling = deferred();
      const run = await begin(async (task, _claim, signal) => {
        calling.resolve();
        await new Promise((resolve) => signal.addEventListener('abort', resolve));
        return succeeded(task);
      });
      await run.addRows(2);
      await calling.promise;
      run.worker.pause();
      vi.spyOn(run.queue, 'readLedger').mockResolvedValue([]);
      // What the datastore does when the lock of a dead worker expires.
      for (const each of await queueNamed(run.queue.name).getActive()) await each.moveToWait('0');
      const taken: BatchReturn[] = [];
      await run.batchQueue.drain(async (batch) => void taken.push(batch));
      expect(
        taken.flatMap(({ unfinishedRows }) => unfinishedRows.map(({ history: known }) => known?.unclear)),
      ).toEqual([true, true]);
      await run.worker.stop(0);
    });

    test('knows of a batch that it was called, even when its ledger is lost', async () => {
      const run = await begin(async (task, _claim, signal) => {
        await new Promise((resolve) => signal.addEventListener('abort', resolve));
        return succeeded(task);
      });
      await run.addRows(1);
      const calls = queueNamed(run.queue.name);
      await expect
        .poll(async () => (await calls.getActive()).map(({ progress }) => progress))
        .toEqual(['called']);
      await run.worker.stop(0);
    });

    test('reports which rows the datastore has lost', async () => {
      const run = await begin();
      await run.worker.stop(1_000);
      await run.addRows(2);
      await run.batchQueue.refresh();
      expect(run.batches).toEqual([]);
      // What a crash of the datastore can do.
      const batches = batchesOf(run);
      for (const job of await batches.getJobs()) await batches.remove(job.id ?? '', { removeChildren: true });
      await expect
        .poll(() => run.batchQueue.refresh().then(() => run.batches))
        .toMatchObject([{ rows: 2, missingRows: [1, 2] }]);
      expect(run.batchQueue.openRows).toBe(0);
    });

    test('collects batches added after a process died while removing the queue', async () => {
      const run = await begin();
      await run.batchQueue.close();
      await batchesOf(run).pause();
      const { batchQueue, collected } = await openAgain(run);
      await batchQueue.add(newBatch(run.runId, tasksOf(2)), neverAborted);
      expect(numbersOf((await collected).results)).toEqual([1, 2]);
    });

    test('knows what the last collected batches said, for a journal that has lost its last lines', async () => {
      const run = await begin((task) =>
        task.row === 29 ? { kind: 'retry', delayMs: 60_000, history } : succeeded(task),
      );
      for (let row = 1; row <= 30; row += 1) {
        await run.addRows(1, row);
        await run.collected(row);
      }
      await run.worker.stop(1_000);
      await run.batchQueue.close();
      const lostOf = async (endAtOpening: number): Promise<LostEntries[]> => {
        let journalEnd = endAtOpening;
        const found: LostEntries[] = [];
        const { batchQueue } = await openAgain(run, {
          journalEnd: () => journalEnd,
          async restore(lost) {
            found.push(lost);
            journalEnd = 1_000_000;
          },
        });
        await batchQueue.close();
        return found;
      };

      // Earlier versions take each job for an open batch, and would wait for its rows.
      const kept = (await batchesOf(run).getJobs()).map(({ data: { rows } }) => rows);
      expect(kept).toEqual(Array.from({ length: 25 }, () => []));
      expect(await lostOf(3_000)).toEqual([]);
      const lost = await lostOf(2_799);
      expect(lost).toMatchObject([{ unfinishedRows: [{ row: 29, history }], doubtfulRows: [] }]);
      expect(numbersOf(lost[0]?.results).toSorted()).toEqual([28, 30]);
      // What was handed out is in the journal now, until that loses its last lines again.
      expect(await lostOf(1_000_000)).toEqual([]);
      expect(await lostOf(999_999)).toEqual(lost);
      // Rows below those of the known batches are in doubt when it has lost more.
      const [more] = await lostOf(0);
      expect(more).toMatchObject({ unfinishedRows: [{ row: 29 }], doubtfulRows: [1, 2, 3, 4, 5] });
      expect(more?.results).toHaveLength(24);
      const { batchQueue } = await openAgain(run);
      await batchQueue.forget();
    });

    test('adopts and collects the batches of a dead process', async () => {
      const run = await begin();
      await run.batchQueue.close();
      await run.worker.stop(1_000);
      const first = (await openAgain(run)).batchQueue;
      await first.add(newBatch(run.runId, tasksOf(4)), neverAborted);
      await first.close();

      const { batchQueue, collected } = await openAgain(run);
      expect(batchQueue.recovered.batches).toMatchObject([{ rows: 4 }]);
      expect([...batchQueue.recovered.inDatastore].toSorted()).toEqual([1, 2, 3, 4]);
      expect(batchQueue.openRows).toBe(4);
      workerOn(run.queue, (task) =>
        task.row === 4 ? { kind: 'retry', delayMs: 60_000, history } : succeeded(task),
      );
      const { results, unfinishedRows } = await collected;
      expect(numbersOf(results).toSorted()).toEqual([1, 2, 3]);
      expect(unfinishedRows).toMatchObject([{ row: 4, task: tasksOf(1, 4)[0] }]);
      await batchQueue.forget();
    });

    if (part === 'each command') return;

    test('passes texts and the policy of the run through exactly', async () => {
      const seen: unknown[] = [];
      const run = await runThrough([tasksOf(1)], (task, claim) => {
        seen.push([task.run, task.subject, JSON.parse(task.body), claim.policy]);
        return succeeded(task, { message: awkward, columns: { title: awkward } });
      });
      const subject = '9223372036854775807';
      expect(seen).toEqual([[run.runId, subject, { id: subject, title: awkward }, policy]]);
      expect(run.results()[0]).toMatchObject({ message: awkward, columns: { title: awkward } });
    });

    test('accepts a row of a megabyte', async () => {
      const run = await runThrough([tasksOf(1, 1, 'x'.repeat(1_000_000))], (task) =>
        succeeded(task, { message: String(JSON.parse(task.body).title.length) }),
      );
      expect(run.results()[0]?.message).toBe('1000000');
    });

    test('repeats a row after a transient failure, and gives each attempt the history', async () => {
      const seen: (readonly [number, number | undefined])[] = [];
      const run = await runThrough([tasksOf(1)], (task, claim) => {
        seen.push([claim.attemptsUsed, task.history?.attempts]);
        if (claim.attemptsUsed === 2) return succeeded(task);
        const attempts = claim.attemptsUsed + 1;
        return { kind: 'retry', delayMs: 1, history: { ...history, attempts, unclear: true } };
      });
      expect(seen).toEqual([
        [0, undefined],
        [1, 1],
        [2, 2],
      ]);
      expect(run.results()[0]).toMatchObject({ attempts: 3, unclear: true });
    });

    test('accepts a row again that was handed back ten times', async () => {
      const run = await begin((task, claim) =>
        claim.attemptsUsed === 10
          ? succeeded(task)
          : { kind: 'retry', delayMs: 60_000, history: { ...history, attempts: claim.attemptsUsed + 1 } },
      );
      await run.addRows(1);
      for (let times = 1; times <= 10; times += 1) {
        await run.collected(times);
        await run.add((run.batches.at(-1)?.unfinishedRows ?? []).flatMap(({ task }) => (task ? [task] : [])));
      }
      await run.collected(11);
      expect(run.results()).toMatchObject([{ row: 1, attempts: 11 }]);
    });

    test('uses up no attempt when the API asks to slow down', async () => {
      const seen: number[] = [];
      const run = await runThrough([tasksOf(1)], (task, claim) => {
        const calls = seen.push(claim.attemptsUsed);
        if (calls > 5) return succeeded(task);
        return { kind: 'throttled', waitMs: 5, history: { ...history, attempts: calls, unprocessed: calls } };
      });
      expect(seen).toEqual([0, 0, 0, 0, 0, 0]);
      expect(run.results()[0]).toMatchObject({ attempts: 6, unclear: false });
    });

    test.each([-3_600_000, -30_000, 3_600_000])('continues when the clock is set by %d ms', async (byMs) => {
      const run = await begin(
        (task) => {
          if (task.history !== undefined) return succeeded(task);
          if (task.row === 10) setClock(byMs);
          return { kind: 'retry', history, delayMs: 300 };
        },
        { concurrency: 4 },
      );
      await run.addRows(20);
      await run.collected(1);
      expect(run.results().map(({ attempts }) => attempts)).toEqual(Array.from({ length: 20 }, () => 2));
    });

    test('collects finished batches even if an older copy of the datastore has the queue paused', async () => {
      const run = await begin();
      await batchesOf(run).pause();
      await run.addRows(2);
      await run.batchQueue.refresh();
      await run.collected(1);
      expect(numbersOf(run.results())).toEqual([1, 2]);
      await run.batchQueue.forget();
    });

    test('writes the withdrawal into the ledger of a batch before it removes a batch that no worker has', async () => {
      const run = await begin();
      await run.worker.stop(1_000);
      await run.addRows(2);
      const [job] = await batchesOf(run).getJobs();
      const ledgers: (readonly string[])[] = [];
      await run.batchQueue.drain(async () => {
        ledgers.push(await run.queue.readLedger(job?.id ?? '', 0));
      });
      // A worker that was suspended until its lock expired may continue at this moment, and reads the ledger before its next
      // call.
      expect(ledgers).toEqual([[expect.stringContaining('withdraw')]]);
      await run.collected(1);
    });

    test('treats no row as called when a worker claims and hands back the batch during the withdrawal', async () => {
      const run = await begin();
      await run.worker.stop(1_000);
      const batches = batchesOf(run);
      await batches.pause();
      await run.addRows(2);
      atWithdrawal('after', async (job) => {
        const another = workerOn(run.queue, succeed);
        await expect.poll(() => job.getState()).not.toBeOneOf(['waiting', 'prioritized', 'active']);
        await another.stop(10_000);
      });
      const taken: BatchReturn[] = [];
      await run.batchQueue.drain(async (batch) => void taken.push(batch));
      expect(taken).toEqual([]);
      await run.batchQueue.refresh();
      await run.collected(1);
      expect(
        run.batches[0]?.unfinishedRows.map(({ row, history }) => [row, history?.unclear ?? false]),
      ).toEqual([
        [1, false],
        [2, false],
      ]);
    });

    test.each(['before', 'after'] as const)(
      'leaves a batch alone that is collected right %s the withdrawal looks at it',
      async (when) => {
        const mayFinish = deferred();
        let calls = 0;
        const run = await begin(async () => {
          calls += 1;
          await mayFinish.promise;
          return { kind: 'returned', history: { ...history, attempts: 2, unclear: true }, delayMs: 10_000 };
        });
        await run.add(tasksOf(4).map((task) => ({ ...task, history })));
        await expect.poll(() => calls).toBe(4);
        atWithdrawal(when, async () => {
          mayFinish.resolve();
          await run.collected(1);
        });
        const taken: BatchReturn[] = [];
        await run.batchQueue.drain(async (batch) => void taken.push(batch));
        // Otherwise the journal would forget the second attempt, and that it is unclear.
        expect([taken, run.errors]).toEqual([[], []]);
        expect(
          run.batches[0]?.unfinishedRows.map((unfinishedRow) => unfinishedRow.history?.attempts),
        ).toEqual([2, 2, 2, 2]);
      },
    );

    test.each([
      ['it is being collected', 'beforeCollecting'],
      ['its answers are being saved', 'onAnswers'],
    ] as const)('does not treat a batch as lost while %s', async (_title, moment) => {
      const { run, batches, mayEnd } = await collecting(moment);
      await batches.obliterate({ force: true });
      await lookLater(run.batchQueue);
      mayEnd.resolve();
      await run.collected(1);
      // Otherwise its rows would be counted twice among those outside the datastore.
      expect([run.batches.length, run.results().length]).toEqual([1, 2]);
    });

    test('collects a batch once, even if it is delivered again after the process was suspended', async () => {
      const { run, batches, mayEnd } = await collecting('beforeCollecting');
      // What the datastore does when the lock has expired.
      for (const job of await batches.getActive()) await job.moveToWait('0');
      await expect.poll(() => batches.getActiveCount()).toBe(1);
      mayEnd.resolve();
      await expect.poll(() => batches.getCompletedCount()).toBe(1);
      await run.worker.stop(10_000);
      await run.batchQueue.close();
      expect(run.batches).toHaveLength(1);
    });

    /** A run whose process dies when it has a batch to collect. */
    async function dying(clockMs = 0) {
      const dead = deferred();
      const beforeCollecting = async (): Promise<void> => {
        if (clockMs > 0) setClock(clockMs);
        dead.resolve();
        throw new Error('its process has died');
      };
      return { run: await begin(succeed, { concurrency: 1, beforeCollecting }), dead: dead.promise };
    }

    test('collects at once the batches that an earlier process could not, even after the clock was set back', async () => {
      const { run, dead } = await dying(3_600_000);
      await run.addRows(2);
      await dead;
      await run.batchQueue.close();
      vi.restoreAllMocks();
      const { collected } = await openAgain(run);
      expect(numbersOf((await collected).results)).toEqual([1, 2]);
    });

    test.each([
      ['was taken out', true],
      ['a worker completed before it could be taken out', false],
    ])('knows the outcome of the rows when the process died after a batch %s', async (_title, isTaken) => {
      const { run, dead } = await dying();
      await run.worker.stop(1_000);
      await run.addRows(2);
      const others: Worker[] = [];
      if (!isTaken)
        vi.spyOn(Job.prototype, 'remove').mockImplementationOnce(async () => {
          others.push(workerOn(run.queue, succeed));
          await dead;
          throw new Error('it is not there any more');
        });
      await run.batchQueue.drain(async () => {});
      await dead;
      await run.batchQueue.close();
      for (const other of others) await other.stop(1_000);
      const { batchQueue, collected } = await openAgain(run);
      // Rows of a batch that was taken out are fed again; the others are still there.
      const there = isTaken ? [] : [1, 2];
      expect([...batchQueue.recovered.inDatastore]).toEqual(there);
      const { rows, results, unfinishedRows, missingRows } = await collected;
      expect([rows, results, numbersOf(unfinishedRows), missingRows]).toEqual([2, [], there, []]);
    });

    test('leaves batches of another coordinator of the run to that one', async () => {
      const stale = await begin();
      const collected: CollectedBatch[] = [];
      const { batchQueue } = await openAgain(stale, {
        collect: async (batch) => void collected.push(batch),
      });
      for (let row = 1; row <= 12; row += 1)
        await batchQueue.add(newBatch(stale.runId, tasksOf(1, row)), neverAborted);
      await expect.poll(() => collected.length).toBe(12);
      expect(stale.batches).toEqual([]);
    });
  });
}
