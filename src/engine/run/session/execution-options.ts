import type { LastingErrors } from '../../../base/errors/error-throttle.ts';
import type { Log } from '../../../base/log.ts';
import type { Attribution } from '../../../domain/actor.ts';
import type { OutcomeCounts, RowResult } from '../../../domain/terms.ts';
import type { ApiClient } from '../../api/client.ts';
import type { WrittenReports } from '../../report/write-reports.ts';
import type { Budget } from '../record/budget.ts';
import type { OpenRunInput } from '../record/open-run.ts';
import type { RunRecord } from '../record/record.ts';
import type { RunEnding, RunResult } from '../record/run-outcome.ts';
import type { ConfirmAfterCanary } from './canary.ts';
import type { EstimatedLimits } from './estimated-limits.ts';
import type { Progress, RunEvent } from './progress.ts';

export interface RunContext {
  /** Absent when workers elsewhere call the API. */
  readonly client: ApiClient | undefined;
  readonly log: Log;
  /** Aborts when the user wants the run to stop. */
  readonly interrupt: AbortSignal;
  /** Whether an interrupt leaves the run to another coordinator. Default: the run stops, to be resumed. */
  readonly handOver?: boolean;
}

/** `record` is of a run that is planned, or stopped before its end. */
export interface ExecuteRunOptions extends RunContext, Omit<OpenRunInput, 'purpose'> {
  /** The shared datastore without its password; absent for the embedded one. */
  readonly queue?: string | undefined;
  /** The API's limits, as estimated by earlier runs and by this one. */
  readonly estimates?: EstimatedLimits | undefined;
  /** Shown in a shared datastore. */
  readonly version: string;
  /** Default: depends on the failures in the canary. */
  readonly confirmAfterCanary?: ConfirmAfterCanary;
  /** Gets errors of commands that are repeated, for a process that shows which of them last. */
  readonly failing?: LastingErrors | undefined;
  /** Default: no limit. */
  readonly budget?: Budget | undefined;
  /** The user who starts or resumes the run, and the reason. */
  readonly attribution?: Attribution;
  /** Counts runs and rows. */
  readonly observer?: RunObserver | undefined;
  /** Called before the first row is fed. */
  readonly onStarted?: (started: StartedRun) => void;
  /** As they happen; not for counting. */
  readonly onEvent?: ((event: RunEvent) => void) | undefined;
  /** Called after the last call, before the report is written. */
  readonly onEnded?: () => void;
  /** Called when a started run fails, before the error is thrown. */
  readonly onFailed?: (left: FailedRun) => void;
}

/** Unlike progress, gets only results that are safe in a journal, and each row once. */
export interface RunObserver {
  /** A run starts or continues in this process. @param waitingRows returns the number of rows without a result */
  started(waitingRows: () => number): ObservedRun;
  /** Rows of any run have their results. */
  finished(results: readonly Pick<RowResult, 'operation' | 'outcome' | 'code'>[]): void;
}

export interface ObservedRun {
  /** @param end absent when another process takes the run over */
  ended(end?: ObservedEnd): void;
}

export interface ObservedEnd {
  readonly result: RunResult;
  /** Of all sessions; absent if unknown. */
  readonly durationMs?: number;
}

export interface FailedRun {
  readonly counts: OutcomeCounts;
  /** Whether all of these results are in the run's folder; if not, they are the results seen here. */
  readonly intact: boolean;
  /** Whether the run had ended, so that only its report is missing. */
  readonly ended: boolean;
}

export interface StartedRun {
  readonly progress: Progress;
  /** Why the datastore does not work; undefined while it does. */
  readonly trouble: () => string | undefined;
}

/** Before its report is written. */
export interface EndedExecution {
  readonly record: RunRecord;
  readonly end: RunEnding;
  /** Whether another process takes the run over. */
  readonly isHandedOver: boolean;
}

export interface ExecutedRun extends Pick<EndedExecution, 'record' | 'end'> {
  /** Absent when another process takes the run over. */
  readonly reports?: WrittenReports;
}
