import { type Job, RateLimitError, WaitingError } from 'bullmq';
import type { Datastore } from '../datastore/datastore.ts';
import type { RowHistory } from '../domain.ts';
import { bullmqOn, stallOptions } from './bullmq.ts';
import { decodeTask, encodeResult, encodeTask, type RowJobData, type RowTask } from './payload.ts';
import type { RowQueue } from './row-queue.ts';
import type { Claim, RowVerdict } from './verdict.ts';

export interface RowWorkerOptions {
  /** Rows in flight at once. */
  readonly concurrency: number;
  /**
   * Calls the API for a row and judges the answer. It must not throw: what it throws is taken for a defect of this
   * program and counts as a failed attempt. `signal` aborts when the worker can't wait any longer.
   */
  readonly process: (task: RowTask, claim: Claim, signal: AbortSignal) => Promise<RowVerdict>;
  /** Errors of the datastore, one by one; the worker goes on by itself. */
  readonly onError: (error: Error) => void;
}

/** Takes rows from the queue, has them processed, and puts what came of it where it can't be lost. */
export interface RowWorker {
  /** Claims no more rows; those in flight go on. Takes effect at once. */
  pause(): void;
  /** Rows in flight are waited for until the deadline; then they are aborted and go back to the queue. */
  stop(deadlineMs: number): Promise<void>;
}

export function startRowWorker(datastore: Datastore, queue: RowQueue, options: RowWorkerOptions): RowWorker {
  const { classes, options: bound } = bullmqOn(datastore);
  const worker = new classes.Worker<RowJobData, string>(
    queue.name,
    // BullMQ hands out the signal only to a processor with three declared parameters.
    (job, token, signal) => processJob(job, token ?? '', signal ?? new AbortController().signal),
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

  async function processJob(
    job: Job<RowJobData, string>,
    token: string,
    signal: AbortSignal,
  ): Promise<string> {
    const task = decodeTask(job.data);
    const claim = { attemptsUsed: job.attemptsMade, lostClaims: lostClaimsOf(job, task) - 1 };
    const verdict = await options.process(task, claim, signal);
    if (verdict.kind === 'finished') return encodeResult(verdict.result);

    await job.updateData(accountedTask(task, verdict.history, job));
    if (verdict.kind === 'retry') throw new RetryLater(verdict.history.lastCode ?? '', verdict.delayMs);
    if (verdict.kind === 'throttled') {
      await queue.pauseFor(verdict.waitMs);
      throw new RateLimitError();
    }
    await job.moveToWait(token);
    throw new WaitingError();
  }

  return {
    pause() {
      void worker.pause(true);
    },
    async stop(deadlineMs) {
      const timer = setTimeout(() => worker.cancelAllJobs('stopping'), deadlineMs);
      try {
        await worker.close();
      } finally {
        clearTimeout(timer);
      }
    },
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
