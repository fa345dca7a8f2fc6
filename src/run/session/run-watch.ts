import type { RowResult } from '../../domain.ts';
import { type RunResult, resultOf } from '../record/ending.ts';
import type { OpenRun } from '../record/open-run.ts';
import { timeAtWork } from '../record/record-keeper.ts';
import type { ExecutedRun } from './execution-options.ts';

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
  ended(end?: WatchedEnd): void;
}

export interface WatchedEnd {
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
    run.ended(watchedEnd(executed, journal));
    return executed;
  } catch (error) {
    run.ended({ result: 'failed' });
    throw error;
  }
}

function watchedEnd(
  { record, end, reports }: ExecutedRun,
  journal: OpenRun['journal'],
): WatchedEnd | undefined {
  if (reports === undefined) return undefined;
  return {
    result: resultOf(end, journal.outcomeCounts),
    durationMs: timeAtWork(record, journal.lastFinishedAt),
  };
}
