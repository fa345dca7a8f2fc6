import { count, counted, exactDuration } from '../../base/text/format.ts';
import { localTime } from '../../base/text/local-time.ts';
import type { HistoryEntry, Schedule } from '../../daemon/schedule/schedule.ts';
import { commonCodeText } from '../../domain/common-code.ts';
import type { LimitedApi } from '../../domain/terms.ts';
import type { WorkerEntry } from '../../engine/cluster/entries.ts';
import { endInWords, leavesRows, resultOf } from '../../engine/run/record/ending.ts';
import type { RunView, RunWait } from '../../engine/run/record/run-view.ts';

/** What the server sends to the page. Times are ISO 8601 UTC. The page treats every text as hostile. */

/** A run, without what would change at each look. */
export interface RunData extends Omit<RunView, 'workers' | 'pace'> {
  /** Rates are calls per second; absent when unlimited or unknown. */
  readonly pace?: Pick<NonNullable<RunView['pace']>, 'reason' | 'rate' | 'limit'> | undefined;
  /** When the API may be called again; absent for a short wait. */
  readonly waitUntil?: string | undefined;
  /** Absent while the datastore of the run answers. Without an answer, members that may have changed are absent. */
  readonly lastSeenAt?: string | undefined;
}

/** The name of a state, and the CSS class for its color and icon. A completed run may have failures. */
export function stateOf(run: RunData): { readonly text: string; readonly kind: string } {
  const { state, wait, lastSeenAt } = run;
  if (lastSeenAt !== undefined) return { text: `last seen ${state}`, kind: 'waiting' };
  if (state === 'running' && wait !== undefined) return { text: 'waiting', kind: 'waiting' };
  return { text: endInWords(run), kind: resultOf(run, run.counts) === 'rows_failed' ? 'failed' : state };
}

/** Whether workers of other machines may call rows of the run. */
export function isShared({ local }: RunData): boolean {
  return local?.isShared !== false;
}

/** Why a run is in its state. While it is running, the reason would be that of its last start. */
export function reasonOf({ id, state, local }: RunData): string | undefined {
  const last = local?.states.at(-1);
  if (last === undefined || state === 'running') return undefined;
  return last.state === state ? last.reason : `its process died; to continue, type: cqbatch resume ${id}`;
}

/** A smaller share of failures is no news, as in the default of `--max-failures`. */
const noticeableShare = 0.05;

/** `All 42 called rows failed, mostly with NOT_FOUND (40 rows).` Undefined while few rows fail. */
export function failingText({ counts, local }: RunData): string | undefined {
  const { succeeded, failed } = counts;
  const called = succeeded + failed;
  if (failed === 0 || failed < noticeableShare * called) return undefined;
  const which =
    succeeded === 0
      ? `All ${counted(failed, 'called row')}`
      : `${count(failed)} of ${counted(called, 'called row')}`;
  const failures = local?.codes?.filter(({ outcome }) => outcome === 'failed') ?? [];
  const [most] = failures.toSorted((one, other) => other.count - one.count);
  return `${which} failed${most === undefined ? '' : `, ${commonCodeText({ code: most.code, rows: most.count }, failed)}`}.`;
}

/** Whether the run waits for a command, has stopped before its end, or has failed rows that no retry has called. */
export function needsPerson(run: RunData, isRetried = false): boolean {
  if (!run.ended) return commandWaits.has(run.wait?.of) || failingText(run) !== undefined;
  const result = resultOf(run, run.counts);
  return result === 'rows_failed' ? !isRetried : leavesRows(result);
}

const commandWaits: ReadonlySet<RunWait['of'] | undefined> = new Set(['daemon', 'user', 'worker']);

/** What a run in progress does: `Waiting because the API asks to wait, until 2026-11-21 22:10:00 UTC. …` */
export function sentenceOf(run: RunData): string {
  const { id, state, counts, wait, waitUntil, throughput, local, lastSeenAt } = run;
  if (lastSeenAt !== undefined)
    return `Unknown since ${localTime(lastSeenAt)}: the datastore of this run does not answer.`;
  if (state === 'paused') {
    const reason = reasonOf(run);
    const why = reason === undefined ? '' : ` (${reason})`;
    return `Paused${why}: no row is called until you unpause it.`;
  }
  if (wait?.of === 'run' || commandWaits.has(wait?.of)) return `Waiting ${wait?.text}.`;
  if (wait !== undefined) {
    const end = waitUntil === undefined ? '' : `, until ${localTime(waitUntil)}`;
    return `Waiting because ${wait.text}${end}. The run continues by itself; if it ends first, type: cqbatch resume ${id}`;
  }
  const held = local?.held ?? 0;
  if (!throughput?.rowsPerSecond) {
    if (held > 0) return `${counted(held, 'row')} wait for the next attempt.`;
    return counts.succeeded + counts.failed === 0 ? 'Starting.' : 'No row has finished in the last seconds.';
  }
  const rest = exactDuration(1_000 * Math.ceil((run.rows - run.done) / throughput.rowsPerSecond));
  return held === 0 ? `About ${rest} left.` : `At least ${rest} left: some rows wait for a retry.`;
}

export type WorkerData = LimitedApi &
  Pick<WorkerEntry, 'host' | 'pid' | 'version' | 'active' | 'concurrency' | 'finished'>;

export interface ScheduleData extends Pick<Schedule, 'name' | 'cron' | 'tz' | 'source' | 'paused'> {
  /** None while the schedule is paused. */
  readonly next: readonly string[];
  readonly last: HistoryEntry | undefined;
}

/** After this time without a change, the server sends `alive`. */
export const heartbeatMs = 3_000;

/** Since when a datastore does not answer, and why. */
export interface Away {
  readonly since: string;
  readonly why: string;
}

/** The server sends all members first, later those that have changed. */
export interface Snapshot {
  readonly stateDir: string;
  readonly datastore?: { readonly name: string; readonly away?: Away | undefined } | undefined;
  /** In progress. */
  readonly runs: readonly RunData[];
  /** Newest first. */
  readonly ended: readonly RunData[];
  readonly workers: readonly WorkerData[];
  readonly schedules: readonly ScheduleData[];
  readonly hasDaemon: boolean;
  /** About damaged or unreadable files. */
  readonly warnings: readonly string[];
  /** Of the opened run: the retries with results in its `report.html`; absent without this file. */
  readonly report?: readonly string[] | undefined;
  readonly mayControl: boolean;
  readonly requireReason: boolean;
}

/** In the order of their buttons. */
export const controlNames = ['pause', 'unpause', 'set-rate', 'set-priority', 'cancel'] as const;

export type ControlName = (typeof controlNames)[number];
