import { count, counted } from '../../base/text/format.ts';
import type { RefusedFile } from '../../daemon/schedule/refused-files.ts';
import type { HistoryEntry, Schedule } from '../../daemon/schedule/schedule.ts';
import { failedRowsText } from '../../domain/common-code.ts';
import type { LimitedApi } from '../../domain/terms.ts';
import type { WorkerEntry } from '../../engine/cluster/entries.ts';
import type { PageContent } from '../../engine/report/html/page-data.ts';
import { rowsInNeed } from '../../engine/report/html/verdict.ts';
import { phraseText, progressPhrases } from '../../engine/run/facts/progress-words.ts';
import { lastReason, type RunFacts } from '../../engine/run/facts/run-facts.ts';
import type { RunWait } from '../../engine/run/facts/run-wait.ts';
import { endInWords, leavesRows, resultOf } from '../../engine/run/record/ending.ts';
import type { DraftBrief } from './start/draft.ts';

/** What the server sends to the page. Times are ISO 8601 UTC. The page treats every text as hostile. */

/** The facts of a run without its workers, which the page has for all runs together. */
export type RunData = Omit<RunFacts, 'workers'> & {
  /** Whether the dashboard itself does not answer any more, so that the run may have changed since. */
  readonly isLastKnown?: true;
};

/** The name of a state, and the CSS class for its color and icon. A completed run says what of it needs a person. */
export function stateOf(run: RunData): { readonly text: string; readonly kind: string } {
  const { state, wait, lastSeenAt, isLastKnown, counts, local } = run;
  if (lastSeenAt !== undefined || (isLastKnown && !run.ended))
    return { text: `last seen ${state}`, kind: 'waiting' };
  if (state === 'submitted' || (state === 'running' && wait !== undefined))
    return { text: state === 'submitted' ? state : 'waiting', kind: 'waiting' };
  if (state !== 'completed') return { text: endInWords(run), kind: state };
  const failed = rowsInNeed(counts);
  const unclear = local?.unclear ?? 0;
  const needs = [failed > 0 && `${count(failed)} failed`, unclear > 0 && `${count(unclear)} unclear`];
  const text = needs.filter(Boolean).join(', ') || endInWords(run);
  return { text, kind: failed > 0 ? 'failed' : unclear > 0 ? 'attention' : state };
}

/** How far a run came that did not call all rows: `15 of 101 called rows failed, 2,899 left`. Empty for one that did. */
export function calledText({ counts }: Pick<RunData, 'counts'>): string {
  const { succeeded, failed, not_attempted: uncalled, pending } = counts;
  const left = uncalled + pending;
  if (left === 0) return '';
  const called = `${count(failed)} of ${counted(succeeded + failed, 'called row')} failed`;
  return `${called}, ${count(left)} left`;
}

/** When a run ended. For a run of another machine, when it started. */
export function endedAt({ local, startedAt }: Pick<RunData, 'local' | 'startedAt'>): string | undefined {
  return local?.states.at(-1)?.at ?? startedAt;
}

/** Whether workers of other machines may call rows of the run. */
export function isShared({ local }: RunData): boolean {
  return local?.isShared !== false;
}

/** Why a run is in its state. While it is running, the reason would be that of its last start. */
export function reasonOf({ state, local }: RunData): string | undefined {
  if (local === undefined || state === 'running') return undefined;
  const hasDied = local.states.at(-1)?.state !== state;
  if (!hasDied) return lastReason({ local });
  const command = local.steps.find(({ group }) => group === 'not_attempted' || group === 'pending')?.command;
  return `its process died${command === undefined ? '' : `; to continue, type: ${command}`}`;
}

/** From this share on, failures are news, as in the default of `--max-failures`. */
const noticeableShare = 0.05;

/** How many rows fail: `All 42 called rows failed, mostly with NOT_FOUND (40 rows).` Undefined while few rows fail. */
export function failingText({ counts, local }: RunData): string | undefined {
  const { succeeded, failed } = counts;
  const called = succeeded + failed;
  if (failed === 0 || failed < noticeableShare * called) return undefined;
  const failures = local?.codes?.filter(({ outcome }) => outcome === 'failed') ?? [];
  const [most] = failures.toSorted((one, other) => other.count - one.count);
  return failedRowsText(failed, called, most && { code: most.code, rows: most.count });
}

/** Whether the run waits for a command, has stopped before its end, or has failed or unclear rows and no retry. */
export function needsPerson(run: RunData, isRetried = false): boolean {
  if (!run.ended) return commandWaits.has(run.wait?.of) || failingText(run) !== undefined;
  const result = resultOf(run, run.counts);
  const isUnclear = result === 'succeeded' && (run.local?.unclear ?? 0) > 0;
  return result === 'rows_failed' || isUnclear ? !isRetried : leavesRows(result);
}

const commandWaits: ReadonlySet<RunWait['of'] | undefined> = new Set(['daemon', 'user', 'worker']);

/** The figures of a run's progress in one line, as its terminal says. */
export function figuresText(run: RunData, now?: number): string {
  const figures = progressPhrases(run, now).filter(({ kind }) => kind === 'figure');
  return figures.map(phraseText).join(', ');
}

/** Why the run calls no row, as its terminal says. Empty while rows are called. */
export function waitText(run: RunData, now?: number): string {
  const waits = progressPhrases(run, now).filter(({ kind }) => kind !== 'figure');
  return waits.map(phraseText).map(asSentence).join(' ');
}

/** A text with a capital letter and a full stop. */
export function asSentence(text: string): string {
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}${text.endsWith('.') ? '' : '.'}`;
}

export type WorkerData = LimitedApi &
  Pick<WorkerEntry, 'host' | 'pid' | 'version' | 'active' | 'concurrency' | 'finished'> & {
    /** The last beat of a worker that fell silent without leaving, ISO 8601 UTC. */
    readonly lostAt?: string;
  };

/** What the page knows of a schedule. */
export interface ScheduleData extends Pick<Schedule, 'name' | 'cron' | 'tz' | 'source' | 'paused'> {
  /** The next due times of the schedule. Empty while it is paused. */
  readonly next: readonly string[];
  readonly last: HistoryEntry | undefined;
  /** The last occasion that started runs, if a later one started none. */
  readonly lastWithRuns: HistoryEntry | undefined;
  /** Files that were refused, and that no person has dismissed, the latest last. */
  readonly refused: readonly RefusedFile[];
}

/** After this time without a change, the server sends the event `alive`. */
export const heartbeatMs = 3_000;

/** Since when a datastore does not answer, and why. */
export interface DatastoreOutage {
  readonly since: string;
  readonly why: string;
}

/** What the page shows. The server sends all members first, later those that have changed. */
export interface Snapshot {
  readonly stateDir: string;
  readonly datastore?: { readonly name: string; readonly away?: DatastoreOutage | undefined } | undefined;
  /** The runs in progress. */
  readonly runs: readonly RunData[];
  /** The ended runs, newest first. */
  readonly ended: readonly RunData[];
  readonly workers: readonly WorkerData[];
  readonly schedules: readonly ScheduleData[];
  readonly hasDaemon: boolean;
  /** The command that starts a daemon of this state folder. */
  readonly daemonCommand: string;
  /** Warnings about damaged or unreadable files. */
  readonly warnings: readonly string[];
  /** The retries whose results are in the `report.html` of the run whose page is open. Absent without this file. */
  readonly report?: readonly string[] | undefined;
  readonly mayControl: boolean;
  readonly requireReason: boolean;
  /** Runs that are prepared and not started. Undefined if this reader can't start runs. */
  readonly drafts?: readonly DraftBrief[] | undefined;
}

/** A snapshot of a dashboard that does not answer any more: without estimates, without what a run waits for, and without control. */
export function asLastKnown(snapshot: Snapshot): Snapshot {
  const unknown = { wait: undefined, throughput: undefined, pace: undefined, retrying: undefined };
  const runs = snapshot.runs.map((run): RunData => ({ ...run, ...unknown, isLastKnown: true }));
  return { ...snapshot, runs, mayControl: false };
}

/** The report of a run in progress. */
export interface LiveReport extends PageContent {
  /** The facts of the run, counted in the same reading of the journal as the rows. */
  readonly facts: RunData;
}

/** The run as it is now, but with the counts of its latest report, because a page must not show counts from different times. */
export function withCountsOf(report: Pick<LiveReport, 'facts'>, run: RunData): RunData {
  const { done, counts, retrying, local } = report.facts;
  return {
    ...run,
    done,
    counts,
    retrying,
    local: run.local && { ...run.local, unclear: local?.unclear, codes: local?.codes },
  };
}

/** The controls of a run, in the order of their buttons. */
export const controlNames = ['pause', 'unpause', 'set-rate', 'set-priority', 'cancel'] as const;

export type ControlName = (typeof controlNames)[number];
