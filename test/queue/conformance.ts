import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest';
import type { Datastore } from '../../src/datastore/datastore.ts';
import type { RowResult } from '../../src/domain.ts';
import type { CqbatchError } from '../../src/errors.ts';
import type { CollectedBatch } from '../../src/queue/collected-batch.ts';
import type { RowTask } from '../../src/queue/payload.ts';
import type { TakenRow } from '../../src/queue/take-back.ts';
import type { Claim, RowVerdict } from '../../src/queue/verdict.ts';
import { built } from '../helpers/built.ts';

const { bullmqOn } = await built<typeof import('../../src/queue/bullmq.ts')>('queue/bullmq');
const { batchesQueueName, batchJobId, rowJobId } =
  await built<typeof import('../../src/queue/names.ts')>('queue/names');
const { openRowQueue } = await built<typeof import('../../src/queue/row-queue.ts')>('queue/row-queue');
const { startRowWorker } = await built<typeof import('../../src/queue/row-worker.ts')>('queue/row-worker');
const { openBatchQueue } = await built<typeof import('../../src/queue/batch-queue.ts')>('queue/batch-queue');

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

/** From now on the system's clock is by so much off; what passes of time stays as it is. */
function setClock(byMs: number): void {
  vi.restoreAllMocks();
  const right = Date.now;
  vi.spyOn(Date, 'now').mockImplementation(() => right() + byMs);
}

const policy = { attempts: 3, backoffMs: 7 };
const never = new AbortController().signal;

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

    async function begin(process: Processor, concurrency = 10, beforeCollecting = (): void => {}) {
      runs += 1;
      const runId = `20260101-000000-a${100 + runs}`;
      const queue = openRowQueue(datastore, `rows-${runs}`);
      const batches: CollectedBatch[] = [];
      const errors: Error[] = [];
      const refused: CqbatchError[] = [];
      const vanished: unknown[] = [];
      const missed: number[] = [];
      let changed = (): void => {};
      const worker = startRowWorker(datastore, queue, {
        concurrency,
        process: async (task, claim, signal) => process(task, claim, signal),
        onRefused: (reason) => refused.push(reason),
        onError: (error) => errors.push(error),
      });
      const batchQueue = await openBatchQueue(datastore, {
        runId,
        rows: queue,
        policy,
        onVanished: async (rows, size) => void vanished.push({ rows, size }),
        collect: async (batch, missing) => {
          beforeCollecting();
          batches.push(batch);
          missed.push(...missing);
          changed();
        },
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
        missed,
        results: () => batches.flatMap(({ results }) => results).toSorted((a, b) => a.row - b.row),
        add: (tasks: readonly RowTask[]) => batchQueue.add(tasks, 1, never),
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

    test('holds the queue until it is told otherwise, but not against the API', async () => {
      const run = await begin(succeed, 1);
      const release = await run.queue.hold(60_000);
      expect(await run.queue.restingFor()).toBeGreaterThan(50_000);
      await run.add(tasksOf(run.runId, 1));
      await release();
      await run.collected(1);
      await run.queue.pauseFor(60_000);
      await (await run.queue.hold(1_000))();
      expect(await run.queue.restingFor()).toBeGreaterThan(50_000);
      await run.end();
    });

    test('ends the rests of others, and not its own', async () => {
      const run = await begin(succeed, 1);
      const other = openRowQueue(datastore, run.queue.name);
      await other.pauseFor(3_600_000);
      await run.queue.endRest();
      expect(await run.queue.restingFor()).toBe(0);
      await run.queue.pauseFor(60_000);
      await other.pauseFor(3_600_000);
      await run.queue.endRest();
      expect(await other.restingFor()).toBeGreaterThan(50_000);
      expect(await other.restingFor()).toBeLessThanOrEqual(60_000);
      await other.close();
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

    test.each([-3_600_000, -30_000, 3_600_000])('goes on when the clock is set by %d ms', async (byMs) => {
      const run = await begin((task) => {
        if (task.history !== undefined) return succeeded(task);
        if (task.row === 10) setClock(byMs);
        return { kind: 'retry', history, delayMs: 300 };
      }, 4);
      await run.queue.setRate({ calls: 2, perMs: 100 });
      await run.add(tasksOf(run.runId, 20));
      await run.collected(1);
      expect(run.results().map(({ attempts }) => attempts)).toEqual(Array.from({ length: 20 }, () => 2));
      await run.end();
    });

    test.each([-3_600_000, 3_600_000])('pauses for as long when the clock is set by %d ms', async (byMs) => {
      const run = await begin(succeed);
      await run.queue.pauseFor(60_000);
      setClock(byMs);
      await expect.poll(() => run.queue.restingFor()).toBeGreaterThan(50_000);
      await expect.poll(() => run.queue.restingFor()).toBeLessThanOrEqual(60_000);
      await run.end();
    });

    test.each([0, -3_600_000, 3_600_000])(
      'hands a batch out again when it could not be taken over, also when the clock is set by %d ms',
      async (byMs) => {
        let tries = 0;
        const run = await begin(succeed, 1, () => {
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

    test('tells each claim what its own run allows', async () => {
      const seen: unknown[] = [];
      await runThrough([tasksOf('', 1)], (task, claim) => {
        seen.push(claim.policy);
        return succeeded(task);
      });
      expect(seen).toEqual([policy]);
    });

    test('gives back a row that it does not understand, and takes no more', async () => {
      const claims: Claim[] = [];
      const reason = { name: 'CqbatchError', code: 'UNKNOWN_OPERATION' } as CqbatchError;
      let refusedOnce = (): void => {};
      const isRefused = new Promise<void>((resolve) => {
        refusedOnce = resolve;
      });
      const run = await begin(() => {
        refusedOnce();
        return { kind: 'refused', reason };
      }, 1);
      await run.add(tasksOf(run.runId, 3));
      await isRefused;
      await run.worker.stop(1_000);
      expect(run.refused).toEqual([reason]);

      const other = startRowWorker(datastore, run.queue, {
        concurrency: 1,
        process: async (task, claim) => {
          claims.push(claim);
          return succeeded(task);
        },
        onRefused: () => {},
        onError: () => {},
      });
      await run.collected(1);
      expect(run.results().map(({ row }) => row)).toEqual([1, 2, 3]);
      // The row that was refused has surely not been called: nothing about it is unclear.
      expect(claims.map(({ lostClaims }) => lostClaims)).toEqual([0, 0, 0]);
      await other.stop(1_000);
      await run.end();
    });

    test('takes back what nobody is calling, with what it went through', async () => {
      let busy = (): void => {};
      const isBusy = new Promise<void>((resolve) => {
        busy = resolve;
      });
      let finish = (): void => {};
      const mayFinish = new Promise<void>((resolve) => {
        finish = resolve;
      });
      const run = await begin(async (task) => {
        if (task.row === 1) return succeeded(task);
        if (task.row === 2) return { kind: 'retry', delayMs: 60_000, history: { ...history, unclear: true } };
        if (task.row === 3) {
          busy();
          await mayFinish;
          return succeeded(task);
        }
        throw new Error(`row ${task.row} must not be claimed`);
      }, 1);
      // Row 3 keeps the only worker busy, so that rows 4 and 5 are never claimed.
      await run.add(tasksOf(run.runId, 4));
      await run.add(tasksOf(run.runId, 1, 5));
      await isBusy;
      const taken: TakenRow[] = [];
      await run.batchQueue.takeBack(async (rows) => void taken.push(...rows));
      expect(taken.toSorted((a, b) => a.row - b.row)).toEqual([
        { row: 2, history: { ...history, unclear: true } },
        { row: 4, history: { attempts: 0, unprocessed: 0, unclear: false } },
        { row: 5, history: { attempts: 0, unprocessed: 0, unclear: false } },
      ]);
      await run.collected(1);
      expect(run.results()).toEqual([]);

      finish();
      await run.collected(2);
      expect(run.results().map(({ row }) => row)).toEqual([1, 3]);
      expect(run.missed).toEqual([]);
      await run.batchQueue.forget();
      await run.end();
    });

    test('tells which rows the datastore has lost', async () => {
      const run = await begin(succeed, 1);
      await run.worker.stop(1_000);
      await run.add(tasksOf(run.runId, 2));
      await run.batchQueue.refresh();
      expect(run.vanished).toEqual([]);
      // What a crash of the datastore can do.
      const batches = new (bullmqOn(datastore).classes.Queue)(
        batchesQueueName(run.runId),
        bullmqOn(datastore).options,
      );
      await batches.remove(batchJobId(run.runId, 1), { removeChildren: true });
      await batches.close();
      await run.batchQueue.refresh();
      expect(run.vanished).toEqual([{ rows: [1, 2], size: { rows: 2, bytes: 1 } }]);
      expect(run.batchQueue.openRows).toBe(0);
      await run.end();
    });

    test('tells which rows of a batch are not in it', async () => {
      const run = await begin(succeed, 1);
      await run.worker.stop(1_000);
      await run.add(tasksOf(run.runId, 3));
      // What becomes of a row that could not be added, which BullMQ does not tell.
      const rows = new (bullmqOn(datastore).classes.Queue)(run.queue.name, bullmqOn(datastore).options);
      await rows.remove(rowJobId(run.runId, 2));
      await rows.close();
      const worker = startRowWorker(datastore, run.queue, {
        concurrency: 1,
        process: async (task) => succeeded(task),
        onRefused: () => {},
        onError: () => {},
      });
      await run.collected(1);
      expect(run.results().map(({ row }) => row)).toEqual([1, 3]);
      expect(run.missed).toEqual([2]);
      await worker.stop(1_000);
      await run.end();
    });

    test('leaves the rows of other runs where they are', async () => {
      const run = await begin(succeed, 1);
      await run.worker.stop(1_000);
      const other = await begin(succeed, 1);
      await other.worker.stop(1_000);
      const otherBatches = await openBatchQueue(datastore, {
        runId: `${run.runId}-r1`,
        rows: run.queue,
        policy,
        onVanished: async () => {},
        collect: async () => {},
        onError: () => {},
      });
      await run.add(tasksOf(run.runId, 2));
      await otherBatches.add(tasksOf(`${run.runId}-r1`, 2), 1, never);
      const taken: TakenRow[] = [];
      await run.batchQueue.takeBack(async (rows) => void taken.push(...rows));
      expect(taken.map(({ row }) => row).toSorted()).toEqual([1, 2]);
      await otherBatches.refresh();
      expect(otherBatches.openRows).toBe(2);
      await otherBatches.takeBack(async () => {});
      await otherBatches.close();
      await run.end();
      await other.end();
    });

    test('adopts what another process has left, and collects it', async () => {
      const run = await begin(async (task, _claim, signal) => {
        if (task.row <= 2) return succeeded(task);
        await new Promise((resolve) => signal.addEventListener('abort', resolve));
        return { kind: 'returned', history: { ...history, unclear: true } };
      }, 3);
      await run.add(tasksOf(run.runId, 4));
      while (run.batchQueue.openRows > 2) await run.batchQueue.refresh();
      await run.end(1);

      const claims: Claim[] = [];
      const histories: unknown[] = [];
      const collected: CollectedBatch[] = [];
      let done = (): void => {};
      const isDone = new Promise<void>((resolve) => {
        done = resolve;
      });
      const queue = openRowQueue(datastore, run.queue.name);
      const batchQueue = await openBatchQueue(datastore, {
        runId: run.runId,
        rows: queue,
        policy,
        onVanished: async () => {},
        collect: async (batch) => {
          collected.push(batch);
          done();
        },
        onError: () => {},
      });
      expect(batchQueue.adopted.batches).toEqual([{ rows: 4, bytes: 1 }]);
      expect([...batchQueue.adopted.rows].toSorted()).toEqual([1, 2, 3, 4]);
      expect(batchQueue.openRows).toBe(2);
      const worker = startRowWorker(datastore, queue, {
        concurrency: 1,
        process: async (task, claim) => {
          claims.push(claim);
          histories.push(task.history);
          return succeeded(task);
        },
        onRefused: () => {},
        onError: () => {},
      });
      await isDone;
      expect(collected[0]?.results.map(({ row }) => row).toSorted()).toEqual([1, 2, 3, 4]);
      expect(claims.map(({ lostClaims }) => lostClaims)).toEqual([0, 0]);
      expect(histories.some((known) => (known as typeof history | undefined)?.unclear)).toBe(true);
      await worker.stop(1_000);
      await batchQueue.forget();
      await batchQueue.close();
      await queue.close();
    });
  });
}
