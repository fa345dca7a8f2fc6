import { count, counted, exactDuration } from '../../base/text/format.ts';
import { localTime } from '../../base/text/local-time.ts';
import type { HistoryEntry, Schedule } from '../../daemon/schedule/schedule.ts';
import type { LimitedApi } from '../../domain/terms.ts';
import type { WorkerEntry } from '../../engine/cluster/entries.ts';
import { resultOf } from '../../engine/run/record/run-outcome.ts';
import type { RunView } from '../../engine/run/record/run-view.ts';

/** What the server sends to the page. Times are ISO 8601 UTC. The page treats every text as hostile. */

/** A run in the overview. */
export interface RunData
  extends Omit<RunView, 'pace' | 'coordinator' | 'wait' | 'because' | 'workers' | 'local'> {
  /** Rates are calls per second; absent when unlimited or unknown. */
  readonly pace?: Pick<NonNullable<RunView['pace']>, 'reason' | 'rate' | 'limit'> | undefined;
  readonly waiting?: string | undefined;
  readonly waitUntil?: string | undefined;
  readonly etaSeconds?: number | undefined;
  /** Rows that wait for their next call; absent for none, or when unknown. */
  readonly held?: number | undefined;
  readonly coordinator?: Pick<WorkerEntry, 'host' | 'pid'> | undefined;
  /** Whether the state folder of the run is on another machine. */
  readonly isElsewhere: boolean;
  /** Whether workers of other machines may call rows of the run. */
  readonly isShared: boolean;
  /** Absent while the datastore of the run answers. */
  readonly lastSeenAt?: string | undefined;
  /** Absent when unknown, as are all members below. */
  readonly unclear?: number | undefined;
  /** Without the time between a stop and a resume; only of an ended run. */
  readonly activeSeconds?: number | undefined;
  readonly reason?: string | undefined;
  /** The code of most failures. */
  readonly failureCode?: string | undefined;
  /** User and host. */
  readonly by?: string | undefined;
  readonly retryOf?: string | undefined;
}

/** The name of a state, and the CSS class for its color and icon. A completed run may have failures. */
export function stateOf({ state, waiting, counts, ended, lastSeenAt }: RunData): {
  readonly text: string;
  readonly kind: string;
} {
  if (resultOf({ state }, counts) === 'rows_failed') {
    const present = (['failed', 'invalid'] as const).filter((outcome) => counts[outcome] > 0);
    const texts = present.map((outcome) => `${count(counts[outcome])} ${outcome}`);
    return { text: [state, ...texts].join(', '), kind: 'failed' };
  }
  if (lastSeenAt !== undefined && !ended) return { text: `last seen ${state}`, kind: 'waiting' };
  if (state === 'running' && waiting !== undefined) return { text: 'waiting', kind: 'waiting' };
  return { text: state, kind: state === 'gave up' ? 'halted' : state };
}

/** A smaller share of failures is no news, as in the default of `--max-failures`. */
const noticeableShare = 0.05;

/** `All 42 called rows failed, most with NOT_FOUND.` Undefined while few rows fail. */
export function failingText({ counts, failureCode }: RunData): string | undefined {
  const { succeeded, failed } = counts;
  const called = succeeded + failed;
  if (failed === 0 || failed < noticeableShare * called) return undefined;
  const which =
    succeeded === 0
      ? `All ${counted(failed, 'called row')}`
      : `${count(failed)} of ${counted(called, 'called row')}`;
  const code = failureCode === undefined ? '' : `, most with ${failureCode}`;
  return `${which} failed${code}.`;
}

/** Whether the run waits for a command, has stopped before its end, or has failed rows that no retry has called. */
export function needsPerson(run: RunData, isRetried: boolean): boolean {
  const { state, ended, waiting, counts } = run;
  if (!ended)
    return state === 'paused' || waiting?.startsWith('for ') === true || failingText(run) !== undefined;
  return (
    state !== 'cancelled' && (state !== 'completed' || (!isRetried && counts.failed + counts.invalid > 0))
  );
}

/** What a run in progress does: `Waiting because the API asks to wait, until 2026-11-21 22:10:00 UTC. …` */
export function sentenceOf(run: RunData): string {
  const { id, state, counts, reason, waiting, waitUntil, etaSeconds, held, lastSeenAt } = run;
  if (lastSeenAt !== undefined)
    return `Unknown since ${localTime(lastSeenAt)}: the datastore of this run does not answer.`;
  if (state === 'paused') {
    const why = reason === undefined ? '' : ` (${reason})`;
    return `Paused${why}: no row is called until you unpause it.`;
  }
  if (waiting !== undefined && /^(for|until) /.test(waiting)) return `Waiting ${waiting}.`;
  if (waiting !== undefined) {
    const end = waitUntil === undefined ? '' : `, until ${localTime(waitUntil)}`;
    return `Waiting because ${waiting}${end}. The run continues by itself; if it ends first, type: cqbatch resume ${id}`;
  }
  if (etaSeconds === undefined) {
    if (held !== undefined) return `${counted(held, 'row')} wait for the next attempt.`;
    return counts.succeeded + counts.failed === 0 ? 'Starting.' : 'No row has finished in the last seconds.';
  }
  const rest = exactDuration(etaSeconds * 1_000);
  return held === undefined ? `About ${rest} left.` : `At least ${rest} left: some rows wait for a retry.`;
}

/** More about a run in the state folder. */
export interface RunDetails {
  /** `by`: user and host, empty if unknown. */
  readonly states: readonly Readonly<Record<'at' | 'state' | 'by' | 'reason', string>>[];
  readonly hasReport: boolean;
  /** Their results are in `report.html`. */
  readonly reportedRetries: readonly string[];
}

export interface WorkerData
  extends LimitedApi,
    Pick<WorkerEntry, 'host' | 'pid' | 'version' | 'active' | 'concurrency' | 'finished'> {
  /** Absent while the datastore answers. */
  readonly lastSeenAt?: string | undefined;
}

export interface ScheduleData extends Pick<Schedule, 'name' | 'cron' | 'tz' | 'source' | 'paused'> {
  /** None while the schedule is paused. */
  readonly next: readonly string[];
  readonly last: HistoryEntry | undefined;
}

/** After this time without a change, the server sends `alive`. */
export const heartbeatMs = 3_000;

export interface Snapshot {
  readonly stateDir: string;
  /** `trouble`: why it does not answer. */
  readonly datastore?:
    | { readonly name: string; readonly trouble: string | undefined; readonly since: string | undefined }
    | undefined;
  readonly runs: readonly RunData[];
  readonly workers: readonly WorkerData[];
  readonly schedules: readonly ScheduleData[];
  readonly hasDaemon: boolean;
  /** About damaged or unreadable files. */
  readonly warnings: readonly string[];
  /** The opened run; null when the state folder does not have it. */
  readonly run?: RunDetails | null | undefined;
  readonly mayControl: boolean;
  readonly requireReason: boolean;
}

/** In the order of their buttons. */
export const controlNames = ['pause', 'unpause', 'set-rate', 'set-priority', 'cancel'] as const;

export type ControlName = (typeof controlNames)[number];
