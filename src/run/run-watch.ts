import type { Outcome, RowResult } from '../domain.ts';
import type { ExecutedRun } from './execution.ts';
import type { OpenRun } from './open-run.ts';
import { isSpent } from './record.ts';
import { timeAtWork } from './record-keeper.ts';

/** How a run came to its end, in one word; each goes with an exit code of the command. */
export const runResults = [
  'succeeded',
  'rows_failed',
  'halted',
  'cancelled',
  'spent',
  'interrupted',
  'failed',
] as const;

export type RunResult = (typeof runResults)[number];

/** Counts what becomes of runs and their rows. Unlike progress it is told only what is safe in a journal, and each row once. */
export interface RunWatch {
  /** A run begins, or goes on, in this process. @param waitingRows tells how many rows have no result yet */
  began(waitingRows: () => number): WatchedRun;
  /** Rows have their results, of whatever run. */
  finished(results: readonly Pick<RowResult, 'operation' | 'outcome' | 'code'>[]): void;
}

/** A run that is going here. */
export interface WatchedRun {
  /** @param end absent when it is left to another process. */
  ended(end?: EndedGo): void;
}

export interface EndedGo {
  readonly result: RunResult;
  /** How long the run was at work, all times together; absent where that is not known. */
  readonly durationMs?: number;
}

/** Does the work on a run, and tells of it. */
export async function watchRun(
  watch: RunWatch | undefined,
  { record, journal }: OpenRun,
  work: () => Promise<ExecutedRun>,
): Promise<ExecutedRun> {
  if (watch === undefined) return work();
  const { plan, states } = record;
  const run = watch.began(() => plan.rows - journal.finishedCount);
  try {
    // What had its result when it was planned, invalid rows among it, counts where the run begins.
    if (!states.some(({ state }) => state === 'running'))
      for await (const results of journal.results()) watch.finished(results);
    journal.onFinished = (results) => watch.finished(results);
    const executed = await work();
    run.ended(endOf(executed, journal));
    return executed;
  } catch (error) {
    run.ended({ result: 'failed' });
    throw error;
  }
}

function endOf({ record, end, reports }: ExecutedRun, journal: OpenRun['journal']): EndedGo | undefined {
  if (reports === undefined) return undefined;
  const durationMs = timeAtWork(record, journal.lastFinishedAt);
  if (end.state === 'completed') return { result: resultOf(journal.outcomeCounts), durationMs };
  const isOutOfBudget = end.state === 'interrupted' && isSpent(record);
  return { result: isOutOfBudget ? 'spent' : end.state, durationMs };
}

function resultOf({ failed, invalid }: Readonly<Record<Outcome, number>>): RunResult {
  return failed + invalid > 0 ? 'rows_failed' : 'succeeded';
}
