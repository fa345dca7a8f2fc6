import type { LastingErrors } from '../../../base/errors/error-throttle.ts';
import type { Log } from '../../../base/log.ts';
import type { Attribution } from '../../../domain/actor.ts';
import type { RowResult } from '../../../domain/row-result.ts';
import type { OutcomeCounts } from '../../../domain/terms.ts';
import type { ApiClient } from '../../api/client.ts';
import type { OpenEntryLists } from '../../list/entry-lists.ts';
import type { Budget } from '../record/budget.ts';
import type { OpenRunInput } from '../record/open-run.ts';
import type { RunRecord } from '../record/record.ts';
import type { RunEnding, RunResult } from '../record/run-outcome.ts';
import type { RunReports } from '../report/report-run.ts';
import type { ConfirmAfterCanary } from './canary.ts';
import type { EstimatedLimits } from './estimated-limits.ts';
import type { Progress, RunEvent } from './progress.ts';

export interface RunContext {
  /** Absent when workers elsewhere call the API. */
  readonly client: ApiClient | undefined;
  /** Needed by a run that compares rows. */
  readonly openLists?: OpenEntryLists | undefined;
  readonly log: Log;
  readonly interrupt: AbortSignal;
  /** Whether an interrupt leaves the run to another coordinator. Default: stops it, to be resumed. */
  readonly handOver?: boolean;
}

/** Options for a planned or stopped run. */
export interface ExecuteRunOptions extends RunContext, Omit<OpenRunInput, 'purpose'> {
  readonly queue?: string | undefined;
  readonly estimates?: EstimatedLimits | undefined;
  /** Shown in a shared datastore. */
  readonly version: string;
  /** Default: depends on the failures in the canary. */
  readonly confirmAfterCanary?: ConfirmAfterCanary;
  /** Gets errors of repeated commands. */
  readonly failing?: LastingErrors | undefined;
  readonly budget?: Budget | undefined;
  readonly attribution?: Attribution;
  readonly observer?: RunObserver | undefined;
  /** Called before the first row is fed. */
  readonly onStarted?: (started: StartedRun) => void;
  /** Not for counting. */
  readonly onEvent?: ((event: RunEvent) => void) | undefined;
  /** Called after the last call, before the report is written. */
  readonly onEnded?: () => void;
  /** Called before the error is thrown. */
  readonly onFailed?: (left: FailedRun) => void;
}

/** Unlike progress, gets only results that are safe in a journal, and each row once. */
export interface RunObserver {
  /** Called also when a run continues. */
  started(waitingRows: () => number): ObservedRun;
  /** Gets results of all runs. */
  finished(results: readonly Pick<RowResult, 'operation' | 'outcome' | 'code'>[]): void;
}

export interface ObservedRun {
  /** @param end absent when another process takes the run over */
  ended(end?: ObservedEnd): void;
}

export interface ObservedEnd {
  readonly result: RunResult;
  /** The active time of all sessions. */
  readonly durationMs?: number;
}

export interface FailedRun {
  readonly counts: OutcomeCounts;
  /** Whether the run's folder has all of these results; otherwise they are those seen here. */
  readonly intact: boolean;
  /** Whether only the report is missing. */
  readonly ended: boolean;
}

export interface StartedRun {
  readonly progress: Progress;
  readonly trouble: () => string | undefined;
}

/** A run whose report is not written yet. */
export interface EndedExecution {
  readonly record: RunRecord;
  readonly end: RunEnding;
  readonly isHandedOver: boolean;
}

export interface ExecutedRun extends Pick<EndedExecution, 'record' | 'end'> {
  /** Absent when another process takes the run over. */
  readonly reports?: RunReports;
}
