import type { Attribution } from '../../actor.ts';
import type { ApiClient } from '../../api/client.ts';
import type { Datastore } from '../../datastore/datastore.ts';
import type { OutcomeCounts, RowResult } from '../../domain.ts';
import type { Log } from '../../log.ts';
import type { WrittenReports } from '../../report/write-reports.ts';
import type { Budget } from '../record/budget.ts';
import type { RunEnding, RunResult } from '../record/ending.ts';
import type { OpenRunInput } from '../record/open-run.ts';
import type { RunRecord } from '../record/record.ts';
import type { ConfirmAfterCanary } from './canary.ts';
import type { EstimatedLimits } from './estimated-limits.ts';
import type { Progress, RunEvent } from './progress.ts';

/** How a process works on a run. */
export interface RunContext {
  /** Calls the API; without it, workers elsewhere must. */
  readonly client: ApiClient | undefined;
  readonly log: Log;
  /** Aborts when the user wants the run to stop. */
  readonly interrupt: AbortSignal;
  /** Whether an interrupt leaves the run to another coordinator. Default: it ends there, to be resumed. */
  readonly handOver?: boolean;
}

/** The record is that of a run that is planned, or stopped before its end. */
export interface ExecuteRunOptions extends RunContext, Omit<OpenRunInput, 'purpose'> {
  /** The shared datastore without its password; absent for the embedded one. */
  readonly queue?: string | undefined;
  /** What earlier runs have estimated of the API's limits; what this one does goes there. */
  readonly estimates?: EstimatedLimits | undefined;
  /** Version of the program, for those who look at a shared datastore. */
  readonly version: string;
  /** Decides whether the run goes on after its canary. Default: that depends on what failed in it. */
  readonly confirmAfterCanary?: ConfirmAfterCanary;
  /** How much of it is done before it stops by itself; absent: all. */
  readonly budget?: Budget | undefined;
  /** The user who starts or resumes it, and the reason. */
  readonly attribution?: Attribution;
  /** Counts what becomes of it. */
  readonly observer?: RunObserver | undefined;
  /** Called before the first row is fed. */
  readonly onStarted?: (started: StartedRun) => void;
  /** Hears what happens to the run, as it happens; it counts nothing. */
  readonly onEvent?: ((event: RunEvent) => void) | undefined;
  /** Called when no more rows are called, before the report is written. */
  readonly onEnded?: () => void;
  /** Called when a run that had started has failed, before the error is thrown. */
  readonly onFailed?: (left: FailedRun) => void;
}

/** Counts what becomes of runs and their rows. Unlike progress it is told only what is safe in a journal, and each row once. */
export interface RunObserver {
  /** A run starts, or continues, in this process. @param waitingRows tells how many rows have no result yet */
  started(waitingRows: () => number): ObservedRun;
  /** Rows have their results, of whatever run. */
  finished(results: readonly Pick<RowResult, 'operation' | 'outcome' | 'code'>[]): void;
}

/** A run in progress in this process. */
export interface ObservedRun {
  /** @param end absent when it is left to another process. */
  ended(end?: ObservedEnd): void;
}

export interface ObservedEnd {
  readonly result: RunResult;
  /** How long the run was active, all sessions together; absent if unknown. */
  readonly durationMs?: number;
}

/** What there is of a run that has failed. */
export interface FailedRun {
  readonly counts: OutcomeCounts;
  /** Whether all of these results are in the run's folder; else they are those that were seen. */
  readonly intact: boolean;
  /** Whether the run had come to its end, so that only its report is missing. */
  readonly ended: boolean;
}

export interface StartedRun {
  /** Follows the run until its end. */
  readonly progress: Progress;
  /** `trouble` tells what is waited for. */
  readonly datastore: Pick<Datastore, 'trouble' | 'exclusive'>;
}

export interface ExecutedRun {
  readonly record: RunRecord;
  readonly end: RunEnding;
  /** Absent when the run was handed over. */
  readonly reports?: WrittenReports;
}
