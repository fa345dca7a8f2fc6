import { DelayedError, type Job, RateLimitError, WaitingError } from 'bullmq';
import type { Datastore } from '../datastore/datastore.ts';
import type { RowHistory } from '../domain.ts';
import { CqbatchError } from '../errors.ts';
import { bullmqOn, stallOptions } from './bullmq.ts';
import { renewLocks } from './lock-renewal.ts';
import {
  decodeTask,
  encodeResult,
  encodeTask,
  type RowJobData,
  type RowTask,
  withAccountedClaims,
} from './payload.ts';
import type { RowQueue } from './row-queue.ts';
import type { Claim, RowVerdict } from './verdict.ts';

export interface RowWorkerOptions {
  /** Rows in hand at once, to begin with. */
  readonly concurrency: number;
  /**
   * Calls the API for a row and judges the answer. It must not throw: what it throws is taken for a defect of this
   * program and counts as a failed attempt. `signal` aborts when the worker can't wait any longer.
   */
  readonly process: (task: RowTask, claim: Claim, signal: AbortSignal) => Promise<RowVerdict>;
  /** Called when a row can't be understood. The worker claims no more; the row has gone back for another worker. */
  readonly onRefused: (reason: CqbatchError) => void;
  /** Errors of the datastore, one by one; the worker goes on by itself. */
  readonly onError: (error: Error) => void;
}

/** Takes rows from the queue, has them processed, and puts what came of it where it can't be lost. */
export interface RowWorker {
  /** Rows in flight. */
  readonly active: number;
  /** Rows ever claimed. */
  readonly started: number;
  /** Rows in hand at once, from now on. */
  concurrency: number;
  /** Claims no more rows; those in flight go on. Takes effect at once. */
  pause(): void;
  /** Rows in flight are waited for until the deadline; then they are aborted and go back to the queue. */
  stop(deadlineMs: number): Promise<void>;
}

export function startRowWorker(datastore: Datastore, queue: RowQueue, options: RowWorkerOptions): RowWorker {
  const { classes, options: bound } = bullmqOn(datastore);
  const stopping = new AbortController();
  const locks = renewLocks(options.onError);
  let active = 0;
  let started = 0;
  const worker = new classes.Worker<RowJobData, string>(
    queue.name,
    // With a third parameter BullMQ would make a signal for every row; one for all of them costs less.
    async (job, token) => {
      active += 1;
      started += 1;
      try {
        return await locks.during(job, token, () => processJob(job, token ?? '', stopping.signal));
      } finally {
        active -= 1;
      }
    },
    {
      ...bound,
      ...stallOptions,
      concurrency: options.concurrency,
      settings: {
        backoffStrategy: (_attempt, _type, error) => (error instanceof RetryLater ? error.delayMs : 0),
      },
    },
  );
  worker.on('error', options.onError);
  locks.start(worker);

  async function processJob(
    job: Job<RowJobData, string>,
    token: string,
    signal: AbortSignal,
  ): Promise<string> {
    const task = readTask(job.data);
    if (task instanceof CqbatchError) return refuse(job, token, task);
    const verdict = await options.process(task, claimOf(job, task), signal);
    if (verdict.kind === 'finished') return encodeResult(verdict.result);
    if (verdict.kind === 'refused') return refuse(job, token, verdict.reason);

    await job.updateData(accountedTask(task, verdict.history, job));
    if (verdict.kind === 'retry') throw new RetryLater(verdict.history.lastCode ?? '', verdict.delayMs);
    if (verdict.kind === 'throttled') {
      if (verdict.waitMs > 0) await queue.pauseFor(verdict.waitMs);
      throw new RateLimitError();
    }
    if (verdict.delayMs !== undefined) {
      await job.moveToDelayed(Date.now() + verdict.delayMs, token);
      throw new DelayedError();
    }
    await job.moveToWait(token);
    throw new WaitingError();
  }

  /** Nothing was called: the row goes back as it was, but for this claim. */
  async function refuse(job: Job<RowJobData, string>, token: string, reason: CqbatchError): Promise<never> {
    void worker.pause(true);
    options.onRefused(reason);
    await job.updateData(withAccountedClaims(job.data, job.attemptsStarted));
    await job.moveToWait(token);
    throw new WaitingError();
  }

  return {
    get active() {
      return active;
    },
    get started() {
      return started;
    },
    get concurrency() {
      return worker.concurrency;
    },
    set concurrency(concurrency) {
      worker.concurrency = concurrency;
    },
    pause() {
      void worker.pause(true);
    },
    async stop(deadlineMs) {
      const timer = setTimeout(() => stopping.abort(), deadlineMs);
      try {
        await worker.close();
      } finally {
        clearTimeout(timer);
      }
    },
  };
}

function readTask(data: RowJobData): RowTask | CqbatchError {
  try {
    return decodeTask(data);
  } catch (error) {
    if (error instanceof CqbatchError) return error;
    throw error;
  }
}

function claimOf(job: Job<RowJobData>, task: RowTask): Claim {
  const { attempts = 1, backoff } = job.opts;
  return {
    attemptsUsed: job.attemptsMade,
    lostClaims: lostClaimsOf(job, task) - 1,
    policy: { attempts, backoffMs: typeof backoff === 'object' ? (backoff.delay ?? 0) : 0 },
  };
}

/** Claims of a row of which its data does not tell what became of them, the present one included. */
export function lostClaimsOf(job: { readonly attemptsStarted: number }, task: RowTask): number {
  return job.attemptsStarted - task.accountedClaims;
}

/** The row's data once this claim is accounted for in its history. */
function accountedTask(task: RowTask, history: RowHistory, job: Job): RowJobData {
  return encodeTask({ ...task, history, accountedClaims: job.attemptsStarted });
}

/** Makes BullMQ repeat the row after a while. It has no stack: it is no defect, and BullMQ would store it. */
class RetryLater extends Error {
  readonly delayMs: number;

  constructor(code: string, delayMs: number) {
    super(code);
    this.name = 'RetryLater';
    this.delayMs = delayMs;
    this.stack = '';
  }
}
