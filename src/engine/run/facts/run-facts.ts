import type { LimitedApi, OutcomeCounts, Priority } from '../../../domain/terms.ts';
import type { WorkerEntry } from '../../cluster/entries.ts';
import type { CodeCount } from '../../journal/state.ts';
import type { NextStep } from '../../report/next-step.ts';
import type { RecordedPace } from '../../report/rate-history.ts';
import type { RunRecord } from '../record/record.ts';
import type { RunWait } from './run-wait.ts';

/** What the record or the entry of a run says without its journal. */
export interface RunBrief extends LimitedApi {
  readonly id: string;
  /** `interrupted` if the process of the run has died. */
  readonly state: string;
  /** Why the run ended early, if its state does not say so. `canary` of a paused run: it pauses until a user has looked at its canary. */
  readonly because: string | undefined;
  readonly manifest: string;
  readonly startedAt: string | undefined;
  readonly rows: number;
  /** The rate that the user wants, as `--rate` has it, or `none`. */
  readonly wantedRate: string;
  /** When a user set this rate in place of that of the start, ISO 8601 UTC. */
  readonly rateSetAt?: string | undefined;
  readonly priority: Priority;
}

/** What the words of progress are made from. */
export interface RunProgress extends Pick<RunBrief, 'id' | 'state' | 'rows'> {
  /** Rows with a result. */
  readonly done: number;
  /** Outcomes as in the report, without rows that are still to be called. */
  readonly counts: OutcomeCounts;
  /** The rate of the last seconds, or of the active time, and at most the rate that is allowed now. Undefined unless known. */
  readonly throughput?: { readonly rowsPerSecond: number; readonly of: 'now' | 'average' } | undefined;
  /** Called rows that will be called again. Undefined unless known. */
  readonly retrying?: number | undefined;
  readonly pace?: RecordedPace | undefined;
  /** Why no row is called. Undefined while rows are called, and after the end. */
  readonly wait: RunWait | undefined;
  /** Workers on all machines. Undefined unless known. */
  readonly workerCount?: number | undefined;
  /** Calls that have been in flight for seconds without a result. Only the process of the run knows them. */
  readonly stalled?: StalledCalls | undefined;
  /** When the datastore of this run of another machine stopped answering. Members that may have changed since are absent. */
  readonly lastSeenAt?: string | undefined;
}

export interface StalledCalls {
  readonly calls: number;
  readonly oldestMs: number;
  readonly timeoutMs: number;
}

/**
 * All that is known of a run: `status`, `list`, `show`, the dashboard, the library and notifications show these facts and no others. They
 * come from one reading of the record, the journal and the entry in the datastore, so that they agree with each other. Times are ISO 8601 UTC.
 */
export interface RunFacts extends RunBrief, RunProgress {
  /** Whether no process works on the run or its report, or will without a command. */
  readonly ended: boolean;
  readonly coordinator?:
    | { readonly host: string; readonly pid: number; readonly version?: string; readonly seenAt?: string }
    | undefined;
  readonly workers: readonly WorkerEntry[];
  /** What only the state folder knows. Absent for a run of another machine. */
  readonly local?: LocalFacts | undefined;
}

/** What only the state folder knows. */
interface LocalFacts {
  /** The number of unclear rows. Like `codes`, absent unless the journal was read or the record of the ended run has the number. */
  readonly unclear?: number | undefined;
  readonly codes?: readonly CodeCount[] | undefined;
  readonly activeMs: number;
  readonly states: RunRecord['states'];
  readonly retryOf?: string | undefined;
  /** The next steps for a run that is paused or has stopped. */
  readonly steps: readonly NextStep[];
  /** What to do about the unclear rows of an ended run. Absent if a check has answered all of them. */
  readonly unclearStep?: NextStep | undefined;
  /** Whether workers of other machines may call rows of the run. */
  readonly isShared: boolean;
  /** The rows per second of the last two minutes. Absent unless the run is in progress. */
  readonly curve?: readonly number[] | undefined;
}

/** Why a run is in its state, as its user or its process said. While the run is running, that of its last start. */
export function lastReason({ local }: Pick<RunFacts, 'local'>): string | undefined {
  return local?.states.at(-1)?.reason;
}
