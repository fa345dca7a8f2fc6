import { Job } from 'bullmq';
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest';
import { deferred } from '../../../src/base/async/waiting.ts';
import type { CqbatchError } from '../../../src/base/errors/errors.ts';
import { unknownAttempt } from '../../../src/domain/attempts.ts';
import { noHistory, type Priority, type RowResult } from '../../../src/domain/terms.ts';
import type { Datastore } from '../../../src/engine/datastore/datastore.ts';
import type { CollectedBatch } from '../../../src/engine/queue/batch-queue-options.ts';
import type { BatchWorkerOptions, BatchWorker as Worker } from '../../../src/engine/queue/batch-worker.ts';
import type { Claim, RowVerdict } from '../../../src/engine/queue/claimed-batch.ts';
import type { LostEntries } from '../../../src/engine/queue/lost-entries.ts';
import type { BatchJobData, BatchReturn, RowTask } from '../../../src/engine/queue/payload.ts';
import type { RowQueue } from '../../../src/engine/queue/row-queue.ts';
import { built } from '../../helpers/built.ts';
import { noWitness, policy, unheard } from './unheard.ts';

const { bullmqOn } = await built<typeof import('../../../src/engine/queue/bullmq.ts')>('engine/queue/bullmq');
const { openRowQueue } =
  await built<typeof import('../../../src/engine/queue/row-queue.ts')>('engine/queue/row-queue');
const { BatchWorker } =
  await built<typeof import('../../../src/engine/queue/batch-worker.ts')>('engine/queue/batch-worker');
const { fatalError } = await built<typeof import('../../../src/base/errors/errors.ts')>('base/errors/errors');
const { encodeBatch } =
  await built<typeof import('../../../src/engine/queue/payload.ts')>('engine/queue/payload');
const { obliterate, promote } =
  await built<typeof import('../../../src/engine/queue/bullmq.ts')>('engine/queue/bullmq');
const { openBatchQueue } =
  await built<typeof import('../../../src/engine/queue/batch-queue.ts')>('engine/queue/batch-queue');

/** The history of a row, as its processor sees it. */
type Processor = (task: RowTask, claim: Claim, signal: AbortSignal) => RowVerdict | Promise<RowVerdict>;

const succeed: Processor = (task) => succeeded(task);

const awkward = 'NUL \u0000, lone \ud800 and \udc00, emoji 🎧, line\nbreak, "quotes", אבג, =cmd()';

function tasksOf(runId: string, rows: number, first = 1): RowTask[] {
  return Array.from({ length: rows }, (_, index) => ({
    run: runId,
    row: first + index,
    operation: 'update-soundboard',
    subject: '9223372036854775807',
    path: '/update',
    body: JSON.stringify({ title: awkward }),
  }));
}

function succeeded(task: RowTask, changes: Partial<RowResult> = {}): RowVerdict {
  return {
    kind: 'finished',
    result: {
      row: task.row,
      operation: task.operation,
      outcome: 'succeeded',
      code: 'OK',
      message: '',
      attempts: (task.history?.attempts ?? 0) + 1,
      unclear: task.history?.unclear ?? false,
      ...changes,
    },
  };
}

/** From now on the system's clock is off by this much; time passes as before. */
function setClock(byMs: number): void {
  vi.restoreAllMocks();
  const right = Date.now;
  vi.spyOn(Date, 'now').mockImplementation(() => right() + byMs);
}

const understood = (): undefined => undefined;
const never = new AbortController().signal;

const history = { attempts: 1, unprocessed: 0, unclear: false, lastCode: 'CODE', lastMessage: awkward };

/**
 * What every datastore must do alike: the promises on which the coordinator and the worker rely.
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

    /** Runs batches through a worker until all are collected. */
    async function runThrough(batches: readonly RowTask[][], process: Processor, concurrency = 10) {
      const run = await begin(process, concurrency);
      const wanted = batches.length;
      for (const tasks of batches) await run.add(tasks.map((task) => ({ ...task, run: run.runId })));
      await run.collected(wanted);
      await run.end();
      return run;
    }

    function workerOn(
      queue: RowQueue,
      process: Processor,
      options: Partial<BatchWorkerOptions> = {},
    ): Worker {
      return new BatchWorker(datastore, queue, {
        witness: noWitness,
        concurrency: 10,
        refusal: understood,
        process: async (task, claim, signal) => {
          if (!(await claim.intend())) return { kind: 'returned', history: task.history ?? noHistory };
          return process(task, claim, signal);
        },
        onRefused() {},
        onError() {},
        ...options,
      });
    }

    async function begin(process: Processor, concurrency = 10, beforeCollecting = async () => {}) {
      runs += 1;
      const runId = `20260101-000000-a${100 + runs}`;
      const queue = openRowQueue(datastore, { baseUrl: `rows-${runs}` });
      const batches: CollectedBatch[] = [];
      const errors: Error[] = [];
      const refused: CqbatchError[] = [];
      const vanished: unknown[] = [];
      const early: RowResult[] = [];
      let changed = (): void => {};
      const worker = workerOn(queue, process, {
        concurrency,
        onRefused: (reason) => refused.push(reason),
        onError: (error) => errors.push(error),
      });
      const batchQueue = await openBatchQueue(datastore, {
        ...unheard(runId, queue),
        onVanished: async (rows, size) => void vanished.push({ rows, size }),
        collect: async (batch) => {
          await beforeCollecting();
          batches.push(batch);
          changed();
        },
        // Each batch adds a hundred bytes.
        journalEnd: () => 100 * batches.length,
        onResults: async (results) => void early.push(...results),
        onError: (error) => errors.push(error),
      });
      return {
        runId,
        queue,
        worker,
        batchQueue,
        batches,
        errors,
        refused,
        vanished,
        early,
        results: () => batches.flatMap(({ results }) => results).toSorted((a, b) => a.row - b.row),
        add: (tasks: readonly RowTask[]) => batchQueue.add(tasks, never),
        async collected(wanted: number) {
          while (batches.length < wanted) {
            await new Promise<void>((resolve) => {
              changed = resolve;
            });
          }
        },
        async end(deadlineMs = 10_000) {
          await worker.stop(deadlineMs);
          await batchQueue.close();
          await queue.close();
        },
      };
    }

    /** Runs one batch, whose collection goes on until the test ends it. */
    async function beginCollecting() {
      const collecting = deferred();
      const mayEnd = deferred();
      const run = await begin(succeed, 1, async () => {
        collecting.resolve();
        await mayEnd.promise;
      });
      await run.add(tasksOf(run.runId, 2));
      await collecting.promise;
      return { run, batches: batchesOf(run.runId), mayEnd };
    }

    /** The queue of a run in which its batches are collected, bypassing the code that looks after it. */
    function batchesOf(runId: string) {
      const { classes, options } = bullmqOn(datastore);
      return new classes.Queue(`batches-${runId}`, options);
    }

    test('collects every row of every batch once', async () => {
      const batches = [tasksOf('', 30), tasksOf('', 50, 31), tasksOf('', 1, 81)];
      const run = await runThrough(batches, succeed);
      expect(run.results().map(({ row }) => row)).toEqual(
        Array.from({ length: 81 }, (_, index) => index + 1),
      );
      expect(run.batches.map(({ rows }) => rows).toSorted((a, b) => a - b)).toEqual([1, 30, 50]);
      expect(run.errors).toEqual([]);
    });

    test('claims batches of a higher priority first, and those of one priority in order of arrival', async () => {
      runs += 1;
      const queue = openRowQueue(datastore, { baseUrl: `rows-${runs}` });
      let urgency: Priority = 'low';
      const openRun = (id: string, priority: () => Priority) =>
        openBatchQueue(datastore, { ...unheard(`${id}${runs}`, queue), priority });
      const opened = {
        usual: await openRun('usual', () => 'normal'),
        other: await openRun('other', () => 'normal'),
        late: await openRun('late', () => urgency),
        urgent: await openRun('urgent', () => 'high'),
      };
      for (const id of ['late', 'usual', 'other', 'usual', 'late', 'urgent'] as const)
        await opened[id].add(tasksOf('', 2), never);
      expect(await queue.countWaiting()).toBe(6);
      const { classes, options } = bullmqOn(datastore);
      const worker = new classes.Worker(queue.name, null, { ...options, autorun: false });
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
      await worker.close(true);
      for (const batches of Object.values(opened)) await batches.close();
      await queue.close();
    });

    test('hands back a row with a long wait, with its history', async () => {
      const run = await begin((task) =>
        task.row === 1 ? { kind: 'retry', delayMs: 60_000, history } : succeeded(task),
      );
      await run.add(tasksOf(run.runId, 3));
      await run.collected(1);
      expect(run.results().map(({ row }) => row)).toEqual([2, 3]);
      const [task] = tasksOf(run.runId, 1);
      const [leftover, ...others] = run.batches[0]?.leftovers ?? [];
      expect(others).toEqual([]);
      expect(leftover).toEqual({
        ...{ row: 1, history, attemptsUsed: 1, delayMs: expect.any(Number) },
        task: { ...task, history, attemptsUsed: 1 },
      });
      await run.end();
    });

    test('claims no more than one batch while the worker rests', async () => {
      const run = await begin(succeed, 1);
      run.worker.resting = true;
      for (const row of [1, 2, 3]) await run.add(tasksOf(run.runId, 1, row));
      await expect.poll(() => run.queue.countWaiting()).toBeGreaterThanOrEqual(2);
      expect(run.worker.started).toBe(0);
      run.worker.resting = false;
      await run.collected(3);
      await run.end();
    });

    test.each([0, -3_600_000, 3_600_000])(
      'hands a batch out again when its collection failed, even when the clock is set by %d ms',
      async (byMs) => {
        let tries = 0;
        const run = await begin(succeed, 1, async () => {
          tries += 1;
          if (tries > 1) return;
          setClock(byMs);
          throw new Error('disk full');
        });
        await run.add(tasksOf(run.runId, 3));
        await run.collected(1);
        expect([tries, run.results().length]).toEqual([2, 3]);
        await run.end();
      },
    );

    test.each<[string, BatchJobData, string]>([
      ['of another version', { v: 99, text: '' }, 'UNKNOWN_PAYLOAD'],
      ['with a row that it cannot call', encodeBatch({ tasks: tasksOf('', 1), policy }), 'UNKNOWN_OPERATION'],
    ])('leaves a batch %s where it is, and takes no more', async (_title, data, code) => {
      const run = await begin(succeed, 1);
      await run.worker.stop(1_000);
      const { classes, options } = bullmqOn(datastore);
      const calls = new classes.Queue(run.queue.name, options);
      await calls.add('rows', data, { jobId: 'other-b-1' });
      const refused = deferred<CqbatchError>();
      const worker = new BatchWorker(datastore, run.queue, {
        witness: noWitness,
        concurrency: 1,
        refusal: () => fatalError('UNKNOWN_OPERATION', 'unheard of'),
        process: async (task) => succeeded(task),
        onRefused: (reason) => refused.resolve(reason),
        onError: () => {},
      });
      expect(await refused.promise).toMatchObject({ code });
      await worker.stop(1_000);
      expect(await (await calls.getJob('other-b-1'))?.getState()).toBe('waiting');
      await calls.remove('other-b-1');
      await calls.close();
      await run.end();
    });

    test('removes unclaimed batches, and withdraws the rest', async () => {
      const calling = deferred();
      const mayFinish = deferred();
      const started: number[] = [];
      const run = await begin(async (task) => {
        started.push(task.row);
        if (task.row === 1) return succeeded(task);
        calling.resolve();
        await mayFinish.promise;
        return succeeded(task);
      }, 1);
      await run.add(tasksOf(run.runId, 4));
      await calling.promise;
      run.worker.pause();
      const taken: BatchReturn[] = [];
      await run.batchQueue.drain(async (batch) => void taken.push(batch));
      mayFinish.resolve();
      await run.collected(1);
      expect([started, taken]).toEqual([[1, 2], []]);
      expect(run.results().map(({ row }) => row)).toEqual([1, 2]);
      expect(run.batches[0]?.leftovers.map(({ row }) => row)).toEqual([3, 4]);
      await run.add(tasksOf(run.runId, 2, 5));
      await run.batchQueue.drain(async (batch) => void taken.push(batch));
      await run.collected(2);
      expect(taken.flatMap(({ leftovers }) => leftovers.map(({ row }) => row))).toEqual([5, 6]);
      expect(run.batches[1]).toMatchObject({ results: [], leftovers: [], missing: [] });
      await run.batchQueue.forget();
      await run.end();
    });

    test.each([
      ['carried out, but its reply is lost', (once: () => Promise<void>) => once()],
      ['refused, because older data say that the queue is not paused', async () => {}],
    ])('removes a queue from the datastore although the command was %s', async (_title, before) => {
      runs += 1;
      const batches = batchesOf(`gone-${runs}`);
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
      await batches.close();
    });

    test('makes a delayed job due, even when it has just become due', async () => {
      runs += 1;
      const batches = batchesOf(`due-${runs}`);
      const job = await batches.add('row', { rows: [], bytes: 0 }, { delay: 60_000 });
      await promote(job);
      await promote(job);
      expect(await job.isWaiting()).toBe(true);
      await obliterate(batches);
      await expect(promote(job)).resolves.toBeUndefined();
      await batches.close();
    });

    test('reports the finished rows of a batch that stays open', async () => {
      const mayFinish = deferred();
      const run = await begin(async (task) => {
        if (task.row === 3) await mayFinish.promise;
        return succeeded(task);
      });
      await run.add(tasksOf(run.runId, 3));
      await expect
        .poll(async () => {
          await run.batchQueue.refresh();
          return run.batchQueue.openRows;
        })
        .toBe(1);
      expect(run.early.map(({ row }) => row).toSorted()).toEqual([1, 2]);
      mayFinish.resolve();
      await run.collected(1);
      await run.end();
    });

    test('marks the rows that a lost worker was calling, and no others', async () => {
      const calling = deferred();
      const run = await begin(async (task, _claim, signal) => {
        if (task.row === 1) return succeeded(task);
        calling.resolve();
        await new Promise((resolve) => signal.addEventListener('abort', resolve));
        throw new Error('its process has died');
      }, 2);
      await run.add(tasksOf(run.runId, 4));
      await calling.promise;
      run.worker.pause();
      const { classes, options } = bullmqOn(datastore);
      const calls = new classes.Queue(run.queue.name, options);
      const [job] = await calls.getActive();
      await expect
        .poll(async () => (await run.queue.readLedger(job?.id ?? '', 0)).join())
        .toContain('"results"');
      // What the datastore does when the lock of a worker expires.
      await calls.getActive().then((jobs) => Promise.all(jobs.map((each) => each.moveToWait('0'))));
      await calls.close();
      const histories = new Map<number, unknown>();
      const other = new BatchWorker(datastore, run.queue, {
        witness: noWitness,
        concurrency: 4,
        refusal: understood,
        process: async (task, claim) => {
          await claim.intend();
          histories.set(task.row, task.history);
          return succeeded(task);
        },
        onRefused: () => {},
        onError: () => {},
      });
      await run.collected(1);
      expect([...histories].toSorted(([a], [b]) => a - b)).toEqual([
        [2, { attempts: 1, unprocessed: 0, unclear: true, earlier: [unknownAttempt] }],
        [3, { attempts: 1, unprocessed: 0, unclear: true, earlier: [unknownAttempt] }],
        [4, undefined],
      ]);
      expect(run.results().map(({ row, unclear }) => [row, unclear])).toEqual([
        [1, false],
        [2, true],
        [3, true],
        [4, false],
      ]);
      await other.stop(1_000);
      await run.end(0);
    });

    test('reports which rows the datastore has lost', async () => {
      const run = await begin(succeed, 1);
      await run.worker.stop(1_000);
      await run.add(tasksOf(run.runId, 2));
      await run.batchQueue.refresh();
      expect(run.vanished).toEqual([]);
      // What a crash of the datastore can do.
      const batches = batchesOf(run.runId);
      for (const job of await batches.getJobs()) await batches.remove(job.id ?? '', { removeChildren: true });
      await batches.close();
      await expect
        .poll(async () => {
          await run.batchQueue.refresh();
          return run.vanished;
        })
        .toMatchObject([{ rows: [1, 2], size: { rows: 2 } }]);
      expect(run.batchQueue.openRows).toBe(0);
      await run.end();
    });

    test('collects batches added after a process died while removing the queue', async () => {
      const run = await begin(succeed);
      await run.batchQueue.close();
      const batches = batchesOf(run.runId);
      await batches.pause();
      await batches.close();
      const collected = deferred<CollectedBatch>();
      const batchQueue = await openBatchQueue(datastore, {
        ...unheard(run.runId, run.queue),
        collect: async (batch) => collected.resolve(batch),
      });
      await batchQueue.add(tasksOf(run.runId, 2), never);
      expect((await collected.promise).results.map(({ row }) => row)).toEqual([1, 2]);
      await batchQueue.close();
      await run.end();
    });

    test('knows what the last collected batches said, for a journal that has lost its last lines', async () => {
      const run = await begin((task) =>
        task.row === 29 ? { kind: 'retry', delayMs: 60_000, history } : succeeded(task),
      );
      for (let row = 1; row <= 30; row += 1) {
        await run.add(tasksOf(run.runId, 1, row));
        await run.collected(row);
      }
      await run.worker.stop(1_000);
      await run.batchQueue.close();
      const lostOf = async (endAtOpening: number) => {
        let journalEnd = endAtOpening;
        const found: LostEntries[] = [];
        const again = await openBatchQueue(datastore, {
          ...unheard(run.runId, run.queue),
          journalEnd: () => journalEnd,
          async restore(lost) {
            found.push(lost);
            journalEnd = 1_000_000;
          },
        });
        return { again, found };
      };
      const rowsIn = (lost: readonly { readonly row: number }[] = []) =>
        lost.map(({ row }) => row).toSorted((a, b) => a - b);

      // Earlier versions take each job for an open batch, and would wait for its rows.
      const kept = batchesOf(run.runId);
      expect((await kept.getJobs()).map(({ data: { rows } }) => rows)).toEqual(
        Array.from({ length: 25 }, () => []),
      );
      await kept.close();
      const whole = await lostOf(3_000);
      expect(whole.found).toEqual([]);
      await whole.again.close();
      const cut = await lostOf(2_799);
      expect(cut.found).toMatchObject([{ leftovers: [{ row: 29, history }], doubtful: [] }]);
      expect(rowsIn(cut.found[0]?.results)).toEqual([28, 30]);
      await cut.again.close();
      // What was handed out is in the journal now, until that loses its last lines again.
      const restored = await lostOf(1_000_000);
      expect(restored.found).toEqual([]);
      await restored.again.close();
      const twice = await lostOf(999_999);
      expect(twice.found).toEqual(cut.found);
      await twice.again.forget();
      await twice.again.close();
      await run.queue.close();
    });

    test('doubts all rows below those of the batches that it knows when the journal has lost more', async () => {
      const run = await begin(succeed);
      for (let row = 1; row <= 30; row += 1) {
        await run.add(tasksOf(run.runId, 1, row));
        await run.collected(row);
      }
      await run.worker.stop(1_000);
      await run.batchQueue.close();
      const found: LostEntries[] = [];
      const again = await openBatchQueue(datastore, {
        ...unheard(run.runId, run.queue),
        restore: async (lost) => void found.push(lost),
      });
      expect(found).toMatchObject([{ leftovers: [], doubtful: [1, 2, 3, 4, 5] }]);
      expect(found[0]?.results).toHaveLength(25);
      await again.forget();
      await again.close();
      await run.queue.close();
    });

    test('adopts and collects the batches of a dead process', async () => {
      const run = await begin(async (task, _claim, signal) => {
        if (task.row <= 2) return succeeded(task);
        await new Promise((resolve) => signal.addEventListener('abort', resolve));
        return { kind: 'returned', history: { ...history, unclear: true } };
      }, 3);
      await run.batchQueue.close();
      await run.worker.stop(1_000);
      const first = await openBatchQueue(datastore, unheard(run.runId, run.queue));
      await first.add(tasksOf(run.runId, 4), never);
      await first.close();

      const collected = deferred<CollectedBatch>();
      const batchQueue = await openBatchQueue(datastore, {
        ...unheard(run.runId, run.queue),
        collect: async (batch) => collected.resolve(batch),
      });
      expect(batchQueue.recovered.batches).toMatchObject([{ rows: 4 }]);
      expect([...batchQueue.recovered.rows].toSorted()).toEqual([1, 2, 3, 4]);
      expect(batchQueue.openRows).toBe(4);
      const worker = new BatchWorker(datastore, run.queue, {
        witness: noWitness,
        concurrency: 1,
        refusal: understood,
        process: async (task) =>
          task.row === 4 ? { kind: 'retry', delayMs: 60_000, history } : succeeded(task),
        onRefused: () => {},
        onError: () => {},
      });
      const { results, leftovers } = await collected.promise;
      expect(results.map(({ row }) => row)).toEqual([1, 2, 3]);
      expect(leftovers).toMatchObject([{ row: 4, task: { row: 4, body: tasksOf('', 1)[0]?.body } }]);
      await worker.stop(1_000);
      await batchQueue.forget();
      await batchQueue.close();
      await run.queue.close();
    });

    if (part === 'each command') return;

    test('passes texts through exactly', async () => {
      const bodies: string[] = [];
      const run = await runThrough([tasksOf('', 1)], (task) => {
        bodies.push(task.body);
        return succeeded(task, { message: awkward, columns: { title: awkward } });
      });
      expect(bodies).toEqual([JSON.stringify({ title: awkward })]);
      expect(run.results()[0]).toMatchObject({ message: awkward, columns: { title: awkward } });
    });

    test('accepts a row of a megabyte', async () => {
      const task = { ...tasksOf('', 1)[0], body: 'x'.repeat(1_000_000) } as RowTask;
      const run = await runThrough([[task]], (row) => succeeded(row, { message: String(row.body.length) }));
      expect(run.results()[0]?.message).toBe('1000000');
    });

    test('repeats a row after a transient failure, and gives each attempt the history', async () => {
      const seen: (readonly [number, number | undefined])[] = [];
      const run = await runThrough([tasksOf('', 1)], (task, claim) => {
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
      await run.add(tasksOf(run.runId, 1));
      for (let times = 1; times <= 10; times += 1) {
        await run.collected(times);
        await run.add((run.batches.at(-1)?.leftovers ?? []).flatMap(({ task }) => (task ? [task] : [])));
      }
      await run.collected(11);
      expect(run.results()).toMatchObject([{ row: 1, attempts: 11 }]);
      await run.end();
    });

    test('uses up no attempt when the API asks to slow down', async () => {
      const seen: number[] = [];
      const run = await runThrough([tasksOf('', 1)], (task, claim) => {
        seen.push(claim.attemptsUsed);
        if (seen.length > 5) return succeeded(task);
        return {
          kind: 'throttled',
          waitMs: 5,
          history: { ...history, attempts: seen.length, unprocessed: seen.length },
        };
      });
      expect(seen).toEqual([0, 0, 0, 0, 0, 0]);
      expect(run.results()[0]).toMatchObject({ attempts: 6, unclear: false });
    });

    test.each([-3_600_000, -30_000, 3_600_000])('continues when the clock is set by %d ms', async (byMs) => {
      const run = await begin((task) => {
        if (task.history !== undefined) return succeeded(task);
        if (task.row === 10) setClock(byMs);
        return { kind: 'retry', history, delayMs: 300 };
      }, 4);
      await run.add(tasksOf(run.runId, 20));
      await run.collected(1);
      expect(run.results().map(({ attempts }) => attempts)).toEqual(Array.from({ length: 20 }, () => 2));
      await run.end();
    });

    test('gives each claim the policy of its own run', async () => {
      const seen: unknown[] = [];
      await runThrough([tasksOf('', 1)], (task, claim) => {
        seen.push(claim.policy);
        return succeeded(task);
      });
      expect(seen).toEqual([policy]);
    });

    test('collects finished batches even if an older copy of the datastore has the queue paused', async () => {
      const run = await begin(succeed);
      const batches = batchesOf(run.runId);
      await batches.pause();
      await batches.close();
      await run.add(tasksOf(run.runId, 2));
      await run.batchQueue.refresh();
      await run.collected(1);
      expect(run.results().map(({ row }) => row)).toEqual([1, 2]);
      await run.batchQueue.forget();
      await run.end();
    });

    test('writes the withdrawal into the ledger of a batch before it removes a batch that no worker has', async () => {
      const run = await begin(succeed);
      run.worker.pause();
      await run.add(tasksOf(run.runId, 2));
      const batches = batchesOf(run.runId);
      const [job] = await batches.getJobs();
      await batches.close();
      const ledgers: (readonly string[])[] = [];
      await run.batchQueue.drain(async () => {
        ledgers.push(await run.queue.readLedger(job?.id ?? '', 0));
      });
      // A worker that was suspended until its lock expired may continue at this moment, and reads the ledger before its next
      // call.
      expect(ledgers).toEqual([[expect.stringContaining('withdraw')]]);
      await run.collected(1);
      await run.end();
    });

    test('treats no row as called when a worker claims and hands back the batch during the withdrawal', async () => {
      const run = await begin(succeed);
      run.worker.pause();
      const batches = batchesOf(run.runId);
      await batches.pause();
      await batches.close();
      await run.add(tasksOf(run.runId, 2));
      const { isActive } = Job.prototype;
      vi.spyOn(Job.prototype, 'isActive').mockImplementationOnce(async function (this: Job) {
        const active = await isActive.call(this);
        const another = workerOn(run.queue, succeed);
        await expect.poll(() => this.getState()).not.toBeOneOf(['waiting', 'prioritized', 'active']);
        await another.stop(10_000);
        return active;
      });
      const taken: BatchReturn[] = [];
      await run.batchQueue.drain(async (batch) => void taken.push(batch));
      expect(taken).toEqual([]);
      await run.batchQueue.refresh();
      await run.collected(1);
      expect(run.batches[0]?.leftovers.map(({ row, history }) => [row, history?.unclear ?? false])).toEqual([
        [1, false],
        [2, false],
      ]);
      await run.end();
    });

    test('leaves a batch alone that completes during the withdrawal', async () => {
      const mayFinish = deferred();
      let calls = 0;
      const run = await begin(async (task) => {
        calls += 1;
        await mayFinish.promise;
        return succeeded(task);
      });
      await run.add(tasksOf(run.runId, 4));
      await expect.poll(() => calls).toBe(4);
      const { isActive } = Job.prototype;
      vi.spyOn(Job.prototype, 'isActive').mockImplementationOnce(async function (this: Job) {
        const active = await isActive.call(this);
        mayFinish.resolve();
        await run.collected(1);
        return active;
      });
      await run.batchQueue.drain(async () => {});
      expect(run.results().map(({ row }) => row)).toEqual([1, 2, 3, 4]);
      expect(run.errors).toEqual([]);
      await run.end();
    });

    test('removes nothing from a batch that was just collected', async () => {
      const mayFinish = deferred();
      let calls = 0;
      const run = await begin(async () => {
        calls += 1;
        await mayFinish.promise;
        return { kind: 'returned', history: { ...history, attempts: 2, unclear: true }, delayMs: 10_000 };
      });
      await run.add(tasksOf(run.runId, 4).map((task) => ({ ...task, history })));
      await expect.poll(() => calls).toBe(4);
      const { isActive } = Job.prototype;
      vi.spyOn(Job.prototype, 'isActive').mockImplementationOnce(async function (this: Job) {
        mayFinish.resolve();
        await run.collected(1);
        return isActive.call(this);
      });
      const taken: BatchReturn[] = [];
      await run.batchQueue.drain(async (batch) => void taken.push(batch));
      // Otherwise the journal would forget the second attempt, and that it is unclear.
      expect(taken).toEqual([]);
      expect(run.batches[0]?.leftovers.map((leftover) => leftover.history?.attempts)).toEqual([2, 2, 2, 2]);
      await run.end();
    });

    test('calls no row of a withdrawn batch', async () => {
      const calling = deferred();
      const mayFinish = deferred();
      const started: number[] = [];
      const run = await begin(async (task) => {
        started.push(task.row);
        calling.resolve();
        await mayFinish.promise;
        return succeeded(task);
      }, 1);
      await run.add(tasksOf(run.runId, 4));
      await calling.promise;
      await run.batchQueue.drain(async () => {});
      mayFinish.resolve();
      await run.collected(1);
      expect(started).toEqual([1]);
      expect(run.results().map(({ row }) => row)).toEqual([1]);
      expect(run.batches[0]?.leftovers.map(({ row }) => row)).toEqual([2, 3, 4]);
      await run.end();
    });

    test('does not treat a batch as lost while it is being collected', async () => {
      const { run, batches, mayEnd } = await beginCollecting();
      await batches.obliterate({ force: true });
      await batches.close();
      const later = performance.now() + 60_000;
      vi.spyOn(performance, 'now').mockImplementation(() => later);
      await run.batchQueue.refresh();
      vi.restoreAllMocks();
      mayEnd.resolve();
      await run.collected(1);
      // Otherwise its rows would be counted twice among those outside the datastore.
      expect([run.vanished, run.results().length]).toEqual([[], 2]);
      await run.end();
    });

    test('collects a batch once, even if it is delivered again after the process was suspended', async () => {
      const { run, batches, mayEnd } = await beginCollecting();
      // What the datastore does when the lock has expired.
      for (const job of await batches.getActive()) await job.moveToWait('0');
      await expect.poll(() => batches.getActiveCount()).toBe(1);
      mayEnd.resolve();
      await expect.poll(() => batches.getCompletedCount()).toBe(1);
      await batches.close();
      await run.end();
      expect(run.batches).toHaveLength(1);
    });

    test('does not treat a batch as lost while its answers are being saved', async () => {
      const keeping = deferred();
      const mayEnd = deferred();
      const run = await begin((task) => ({
        ...succeeded(task),
        answer: { row: task.row, at: '2026-01-01T00:00:00.000Z', status: 200, headers: {}, body: '' },
      }));
      await run.batchQueue.close();
      const vanished: unknown[] = [];
      const collected = deferred();
      const batchQueue = await openBatchQueue(datastore, {
        ...unheard(run.runId, run.queue),
        onAnswers: async () => {
          keeping.resolve();
          await mayEnd.promise;
        },
        collect: async () => collected.resolve(),
        onVanished: async (rows) => void vanished.push(rows),
      });
      await batchQueue.add(tasksOf(run.runId, 2), never);
      await keeping.promise;
      const batches = batchesOf(run.runId);
      await batches.obliterate({ force: true });
      await batches.close();
      const later = performance.now() + 60_000;
      vi.spyOn(performance, 'now').mockImplementation(() => later);
      await batchQueue.refresh();
      vi.restoreAllMocks();
      mayEnd.resolve();
      await collected.promise;
      expect(vanished).toEqual([]);
      await batchQueue.close();
      await run.end();
    });

    test('collects at once the batches that an earlier process could not, even after the clock was set back', async () => {
      const failed = deferred();
      const run = await begin(succeed, 1, async () => {
        setClock(3_600_000);
        failed.resolve();
        throw new Error('the journal was removed');
      });
      await run.add(tasksOf(run.runId, 2));
      await failed.promise;
      await run.batchQueue.close();
      vi.restoreAllMocks();
      const collected = deferred<CollectedBatch>();
      const batchQueue = await openBatchQueue(datastore, {
        ...unheard(run.runId, run.queue),
        collect: async (batch) => collected.resolve(batch),
      });
      expect((await collected.promise).results.map(({ row }) => row)).toEqual([1, 2]);
      await batchQueue.close();
      await run.end();
    });

    test.each([
      ['was taken out', true],
      ['a worker completed before it could be taken out', false],
    ])('knows the outcome of the rows when the process died after a batch %s', async (_title, isTaken) => {
      const failed = deferred();
      const run = await begin(succeed, 1, async () => {
        failed.resolve();
        throw new Error('its process has died');
      });
      run.worker.pause();
      await run.add(tasksOf(run.runId, 2));
      const others: InstanceType<typeof BatchWorker>[] = [];
      if (!isTaken)
        vi.spyOn(Job.prototype, 'remove').mockImplementationOnce(async () => {
          others.push(workerOn(run.queue, succeed));
          await failed.promise;
          throw new Error('it is not there any more');
        });
      await run.batchQueue.drain(async () => {});
      await failed.promise;
      await run.batchQueue.close();
      for (const other of others) await other.stop(1_000);
      const collected = deferred<CollectedBatch>();
      const batchQueue = await openBatchQueue(datastore, {
        ...unheard(run.runId, run.queue),
        collect: async (batch) => collected.resolve(batch),
      });
      // Rows of a batch that was taken out are fed again; the others are still there.
      expect([...batchQueue.recovered.rows]).toEqual(isTaken ? [] : [1, 2]);
      const { rows, results, leftovers, missing } = await collected.promise;
      expect([rows, results, leftovers.map(({ row }) => row), missing]).toEqual([
        2,
        [],
        isTaken ? [] : [1, 2],
        [],
      ]);
      await batchQueue.close();
      await run.end();
    });

    test('leaves batches of another coordinator of the run to that one', async () => {
      const stale = await begin(succeed);
      const collected: CollectedBatch[] = [];
      const batchQueue = await openBatchQueue(datastore, {
        ...unheard(stale.runId, stale.queue),
        collect: async (batch) => void collected.push(batch),
      });
      for (let row = 1; row <= 12; row += 1) await batchQueue.add(tasksOf(stale.runId, 1, row), never);
      await expect.poll(() => collected.length).toBe(12);
      expect(stale.batches).toEqual([]);
      await batchQueue.close();
      await stale.end();
    });
  });
}
