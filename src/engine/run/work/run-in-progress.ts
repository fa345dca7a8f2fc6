import type { Defer } from '../../../base/async/scope.ts';
import type { LastingErrors } from '../../../base/errors/error-throttle.ts';
import type { Log } from '../../../base/log.ts';
import type { Attribution } from '../../../domain/actor.ts';
import type { PaceReport } from '../../../domain/pace.ts';
import type { RowResult } from '../../../domain/row-result.ts';
import type { OutcomeCounts } from '../../../domain/terms.ts';
import type { ApiClient } from '../../api/client.ts';
import type { Cluster } from '../../cluster/cluster.ts';
import type { OpenEntryLists } from '../../list/entry-lists.ts';
import type { CallsInFlight } from '../../rate/traffic-meter.ts';
import type { RowsFile } from '../../rows/rows-file.ts';
import type { StopReason } from '../feed/coordinator.ts';
import type { RowSelection } from '../feed/tasks.ts';
import type { Budget } from '../record/budget.ts';
import type { RunEnding, RunPause, RunResult } from '../record/ending.ts';
import type { GuardHalt, Guards } from '../record/guards/guards.ts';
import type { OpenRun, OpenRunInput } from '../record/open-run.ts';
import type { PriorityChange, RateChange, RunRecord } from '../record/record.ts';
import type { RecordKeeper } from '../record/record-keeper.ts';
import type { RunReports } from '../report/report-run.ts';
import type { ConfirmAfterCanary } from './canary.ts';
import type { EstimatedLimits } from './estimated-limits.ts';
import type { Progress, RowEvent } from './progress.ts';

/** Options for a planned or stopped run. The loop and its parts read this one object. */
export interface ExecuteRunOptions extends Omit<OpenRunInput, 'purpose'> {
  /** The client of this process. Absent when workers elsewhere call the API. */
  readonly client: ApiClient | undefined;
  /** Reads the lists of the service, for a run whose rows are compared. */
  readonly openLists?: OpenEntryLists | undefined;
  readonly log: Log;
  readonly interrupt: AbortSignal;
  /** Whether an interrupt leaves the run to another coordinator. Default: stops it, to be resumed. */
  readonly handOver?: boolean;
  readonly queue?: string | undefined;
  readonly estimates?: EstimatedLimits | undefined;
  /** The version of this program, shown to processes that share the datastore. */
  readonly version: string;
  /** Asks whether the run continues after its canary. Default: the failures in the canary decide. */
  readonly confirmAfterCanary?: ConfirmAfterCanary;
  /** Gets the errors of repeated commands, which show why the run waits. */
  readonly lastingErrors?: LastingErrors | undefined;
  readonly budget?: Budget | undefined;
  readonly attribution?: Attribution;
  readonly observer?: RunObserver | undefined;
  /** Gets each event, for display and logs, not for counting. */
  readonly onEvent?: ((event: RunEvent) => void) | undefined;
}

/** What happens to a run in progress, for display, the record and logs. The journal counts the rows. */
export type RunEvent =
  | RowEvent
  /** The run begins, and no row was fed before. `trouble` says why nothing moves, if nothing does. */
  | { readonly type: 'started'; readonly progress: Progress; readonly trouble: () => string | undefined }
  /** The worker that leads has set another pace. `inFlight` has the calls of this process. */
  | { readonly type: 'pace'; readonly pace: PaceReport; readonly inFlight?: CallsInFlight | undefined }
  | { readonly type: 'rate set'; readonly change: RateChange }
  | { readonly type: 'priority set'; readonly change: PriorityChange }
  /** The datastore delays the run for this reason, or no longer. */
  | { readonly type: 'delayed'; readonly reason: string | undefined }
  /** Another process may have the run: nothing more may be written about it. */
  | { readonly type: 'lost' }
  /** The last call has ended. The report follows. */
  | { readonly type: 'called' }
  | ({ readonly type: 'ended'; readonly record: RunRecord } & RecordedEnd)
  | ({ readonly type: 'failed' } & FailedRun);

/** The end of a run that its record has. The report is not written yet. */
export interface RecordedEnd {
  readonly end: RunEnding;
  /** Whether another process takes the run over, and writes its report. */
  readonly isHandedOver: boolean;
}

export interface FailedRun {
  readonly counts: OutcomeCounts;
  /** Whether the run's folder has all of these results; otherwise they are those seen here. */
  readonly isFolderIntact: boolean;
  /** Whether the run has ended, and only its report is missing. */
  readonly hasEnded: boolean;
}

/** Unlike events, gets only results that are safe in a journal, and each row once. */
export interface RunObserver {
  /** Called when a run starts or continues. */
  runStarted(waitingRows: () => number): ObservedRun;
  /** Gets results of all runs. */
  rowsFinished(results: readonly Pick<RowResult, 'operation' | 'outcome' | 'code'>[]): void;
}

export interface ObservedRun {
  /** @param end absent when another process takes the run over */
  runEnded(end?: ObservedEnd): void;
}

export interface ObservedEnd {
  readonly result: RunResult;
  /** The time in which the run was active, over all of its sessions. */
  readonly durationMs?: number;
}

export interface ExecutedRun {
  readonly record: RunRecord;
  readonly end: RunEnding;
  /** The written report. Absent when another process takes the run over. */
  readonly reports?: RunReports;
}

/** A run in progress, as its parts see it. */
export interface RunInProgress {
  readonly run: OpenRun;
  readonly rows: Pick<RowsFile, 'rows' | 'callableLines' | 'numbers' | 'head'>;
  readonly options: ExecuteRunOptions;
  readonly keeper: RecordKeeper;
  readonly guards: Guards;
  readonly progress: Progress;
  /** The processes that share the datastore. Undefined with the embedded datastore. */
  readonly cluster: Cluster | undefined;
  /** Why nothing moves, if nothing does. */
  readonly troubleText: () => string | undefined;
  readonly tellEvent: (event: RunEvent) => void;
  /** Gets errors of actions that are repeated. */
  readonly onError: (error: Error) => void;
  /** Says in the log what was not done, where the run goes on without it. */
  readonly warn: (error: Error, what: string) => void;
}

/** Opens a part of a run. `defer` closes the part when the run has ended. */
export type OpenPart = (run: RunInProgress, defer: Defer) => RunPart | Promise<RunPart>;

/**
 * Takes part in a run in progress: the heartbeat, the log of its rate, commands from elsewhere, the budget, … The loop asks its parts in
 * the order in which they were opened.
 */
export interface RunPart {
  readonly seeEvent?: (event: RunEvent) => void;
  /** Why this part delays the run. Undefined while it delays nothing. */
  readonly delayReason?: () => string | undefined;
  /** Calls `stop` when the run must stop, at once if it must already. The returned function ends the calls. */
  readonly onStop?: (phase: StopPhase, stop: (command: StopCommand) => void) => () => void;
  /**
   * Called before rows are fed: at the start, and after each pause and stage.
   *
   * @param stopping aborts when no row will be fed
   * @param defer releases what is needed only until the feeding ends
   */
  readonly beforeFeeding?: (stopping: AbortSignal, defer: Defer) => Promise<void>;
  /** Results of rows that must not be called any more. Gets the rows in the datastore. */
  readonly resultsWithoutCall?: (held: ReadonlySet<number>) => AsyncIterable<readonly RowResult[]>;
  /** The rows of the present stage. Default: all rows. */
  readonly selection?: () => RowSelection | undefined;
  /**
   * Called when all rows of a stage have results. Without this function, the run is completed.
   *
   * @returns how the run ends or that it pauses, or undefined when another stage follows
   */
  readonly nextStage?: (signal: AbortSignal) => Promise<RunEnding | GuardHalt | RunPause | undefined>;
  /** Called after the last call, unless the run fails. */
  readonly finish?: () => Promise<void>;
  /** Writes the report of the ended run, unless another process takes the run over. */
  readonly report?: (record: RunRecord) => Promise<RunReports>;
}

/** What a run does when it is told to stop. A command may mean something in one phase only: a pause does not end a pause. */
export type StopPhase = 'feeding' | 'paused' | 'paused by canary' | 'between stages';

export type StopCommand = StopReason | ({ readonly state: 'unpaused' } & Attribution);
