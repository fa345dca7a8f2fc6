import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Datastore } from '../../src/datastore/datastore.ts';
import type { RowResult } from '../../src/domain.ts';
import type { CollectedBatch } from '../../src/queue/batch-queue.ts';
import type { RowTask } from '../../src/queue/payload.ts';
import type { Claim, RowVerdict } from '../../src/queue/verdict.ts';
import { built } from '../helpers/built.ts';

const { openRowQueue } = await built<typeof import('../../src/queue/row-queue.ts')>('queue/row-queue');
const { startRowWorker } = await built<typeof import('../../src/queue/row-worker.ts')>('queue/row-worker');
const { openBatchQueue } = await built<typeof import('../../src/queue/batch-queue.ts')>('queue/batch-queue');
const { readLeftovers } = await built<typeof import('../../src/queue/settle.ts')>('queue/settle');

/** What a row went through, as its processor sees it. */
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
    accountedClaims: 0,
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

const history = { attempts: 1, unprocessed: 0, unclear: false, lastCode: 'CODE', lastMessage: awkward };

/** What every datastore must do alike: the promises that the coordinator and the worker build on. */
export function describeQueueOn(name: string, open: () => Promise<Datastore>): void {
  describe(`the queue on ${name}`, () => {
    let datastore: Datastore;
    let runs = 0;

    beforeAll(async () => {
      datastore = await open();
    });
    afterAll(() => datastore.close());

    /** Runs batches through a worker until all are collected. */
    async function runThrough(batches: readonly RowTask[][], process: Processor, concurrency = 10) {
      const run = await begin(process, concurrency);
      const wanted = batches.length;
      for (const tasks of batches) await run.add(tasks.map((task) => ({ ...task, run: run.runId })));
      await run.collected(wanted);
      await run.end();
      return run;
    }

    async function begin(process: Processor, concurrency = 10) {
      runs += 1;
      const runId = `20260101-000000-a${100 + runs}`;
      const queue = openRowQueue(datastore, `rows-${runs}`);
      const batches: CollectedBatch[] = [];
      const errors: Error[] = [];
      let changed = (): void => {};
      const worker = startRowWorker(datastore, queue, {
        concurrency,
        process: async (task, claim, signal) => process(task, claim, signal),
        onError: (error) => errors.push(error),
      });
      const batchQueue = openBatchQueue(datastore, {
        runId,
        rowsQueue: queue.name,
        attempts: 3,
        collect: async (batch) => {
          batches.push(batch);
          changed();
        },
        onError: (error) => errors.push(error),
      });
      return {
        runId,
        queue,
        worker,
        batches,
        errors,
        results: () => batches.flatMap(({ results }) => results).toSorted((a, b) => a.row - b.row),
        add: (tasks: readonly RowTask[]) => batchQueue.add(tasks, 1),
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

    test('collects every row of every batch once', async () => {
      const batches = [tasksOf('', 30), tasksOf('', 50, 31), tasksOf('', 1, 81)];
      const run = await runThrough(batches, succeed);
      expect(run.results().map(({ row }) => row)).toEqual(
        Array.from({ length: 81 }, (_, index) => index + 1),
      );
      expect(run.batches.map(({ rows }) => rows).toSorted((a, b) => a - b)).toEqual([1, 30, 50]);
      expect(run.errors).toEqual([]);
    });

    test('hands texts through exactly', async () => {
      const bodies: string[] = [];
      const run = await runThrough([tasksOf('', 1)], (task) => {
        bodies.push(task.body);
        return succeeded(task, { message: awkward, columns: { title: awkward } });
      });
      expect(bodies).toEqual([JSON.stringify({ title: awkward })]);
      expect(run.results()[0]).toMatchObject({ message: awkward, columns: { title: awkward } });
    });

    test('takes a row of a megabyte', async () => {
      const task = { ...tasksOf('', 1)[0], body: 'x'.repeat(1_000_000) } as RowTask;
      const run = await runThrough([[task]], (row) => succeeded(row, { message: String(row.body.length) }));
      expect(run.results()[0]?.message).toBe('1000000');
    });

    test('repeats a row that may pass, and tells each attempt what came before', async () => {
      const seen: (readonly [number, number, number | undefined])[] = [];
      const run = await runThrough([tasksOf('', 1)], (task, claim) => {
        seen.push([claim.attemptsUsed, claim.lostClaims, task.history?.attempts]);
        if (claim.attemptsUsed === 2) return succeeded(task);
        const attempts = claim.attemptsUsed + 1;
        return { kind: 'retry', delayMs: 1, history: { ...history, attempts, unclear: true } };
      });
      expect(seen).toEqual([
        [0, 0, undefined],
        [1, 0, 1],
        [2, 0, 2],
      ]);
      expect(run.results()[0]).toMatchObject({ attempts: 3, unclear: true });
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

    test('claims nothing while the API asks everybody to wait', async () => {
      let waitingUntil = 0;
      const early: number[] = [];
      await runThrough(
        [tasksOf('', 20)],
        (task) => {
          if (task.row === 1 && task.history === undefined) {
            waitingUntil = Date.now() + 400;
            return { kind: 'throttled', waitMs: 400, history };
          }
          if (Date.now() < waitingUntil - 50) early.push(task.row);
          return succeeded(task);
        },
        1,
      );
      expect(waitingUntil).toBeGreaterThan(0);
      expect(early).toEqual([]);
    });

    test('never shortens a pause', async () => {
      const run = await begin(succeed, 1);
      await run.queue.pauseFor(600);
      const until = Date.now() + 600;
      await run.queue.pauseFor(10);
      await run.add(tasksOf(run.runId, 1));
      await run.collected(1);
      expect(Date.now()).toBeGreaterThan(until - 50);
      await run.end();
    });

    test('keeps to a rate', async () => {
      const run = await begin(succeed, 20);
      await run.queue.setRate({ calls: 2, perMs: 100 });
      const start = Date.now();
      await run.add(tasksOf(run.runId, 20));
      await run.collected(1);
      // Ten windows of two calls; the first opens at once.
      expect(Date.now() - start).toBeGreaterThan(850);
      await run.queue.setRate(undefined);
      await run.end();
    });

    test('hands a batch out again when it could not be taken over', async () => {
      runs += 1;
      const runId = `20260101-000000-b${100 + runs}`;
      const queue = openRowQueue(datastore, `rows-${runs}`);
      const worker = startRowWorker(datastore, queue, {
        concurrency: 1,
        process: async (task) => succeeded(task),
        onError: () => {},
      });
      let tries = 0;
      await new Promise<void>((resolve) => {
        const batchQueue = openBatchQueue(datastore, {
          runId,
          rowsQueue: queue.name,
          attempts: 1,
          collect: async ({ results }) => {
            tries += 1;
            expect(results).toHaveLength(3);
            if (tries === 1) throw new Error('disk full');
            resolve(batchQueue.close());
          },
          onError: () => {},
        });
        void batchQueue.add(tasksOf(runId, 3), 1);
      });
      expect(tries).toBe(2);
      await worker.stop(1_000);
      await queue.close();
    });

    test('tells what is left of a run that was stopped, and forgets it when told to', async () => {
      let busy = (): void => {};
      const isBusy = new Promise<void>((resolve) => {
        busy = resolve;
      });
      const run = await begin(async (task, _claim, signal) => {
        if (task.row === 1) return succeeded(task);
        if (task.row === 2) return { kind: 'retry', delayMs: 60_000, history: { ...history, unclear: true } };
        if (task.row === 3) {
          busy();
          await new Promise((resolve) => signal.addEventListener('abort', resolve));
          return { kind: 'returned', history: { ...history, unclear: true } };
        }
        throw new Error('row 4 must not be claimed');
      }, 1);
      // Row 3 keeps the only worker busy, so that row 4 is never claimed.
      await run.add(tasksOf(run.runId, 4));
      await isBusy;
      await run.end(100);

      const leftovers = await readLeftovers(datastore, run.runId, run.queue.name);
      expect(leftovers.results.map(({ row }) => row)).toEqual([1]);
      expect(leftovers.unfinished.toSorted((a, b) => a.row - b.row)).toEqual([
        { row: 2, history: { ...history, unclear: true } },
        { row: 3, history: { ...history, unclear: true } },
        { row: 4 },
      ]);
      await leftovers.remove();
      expect(await readLeftovers(datastore, run.runId, run.queue.name)).toMatchObject({
        results: [],
        unfinished: [],
      });
    });
  });
}
