import type { WorkerEntry } from '../cluster/entries.ts';
import type { Pace } from '../pace.ts';
import type { RunView } from '../run/record/run-view.ts';
import type { Schedule } from '../schedule/schedule.ts';

/** What the server tells the page; times are ISO 8601 UTC. The page takes every text in it for hostile. */

/** A run on the list. */
export interface RunData
  extends Pick<RunView, 'id' | 'state' | 'ended' | 'manifest' | 'baseUrl' | 'rows' | 'done' | 'counts'>,
    Pick<RunView, 'throughput' | 'wantedRate'> {
  /** Rates are calls per second; absent: without a limit, or unknown. */
  readonly pace?: Pick<Pace, 'reason'> & { readonly [Name in 'rate' | 'limit']: Pace[Name] | undefined };
  /** Why no row is called at the moment. */
  readonly waiting?: string;
  /** Until when, if that is known. */
  readonly waitUntil?: string;
  readonly etaSeconds?: number;
  /** The process that coordinates it. */
  readonly coordinator?: { readonly host: string; readonly pid: number };
  /** Whether its state folder is on another machine. */
  readonly isElsewhere: boolean;
  readonly startedAt?: string;
}

/** What a run's state is called, and the class that gives it its colour: not every run that completed has succeeded. */
export function stateOf({ state, waiting, counts }: RunData): {
  readonly text: string;
  readonly kind: string;
} {
  const hasFailures = counts.failed + counts.invalid > 0;
  if (state === 'completed' && hasFailures) return { text: 'completed with failures', kind: 'failed' };
  if (state === 'running' && waiting !== undefined) return { text: 'running, but waiting', kind: 'waiting' };
  return { text: state, kind: state };
}

/** What the state folder tells of one run besides; how its rows stand is asked for at `/runs/ID/report.json`. */
export interface RunDetails {
  readonly states: readonly { readonly state: string; readonly at: string; readonly reason?: string }[];
  /** Whether `report.html` is in its folder. */
  readonly hasReport: boolean;
}

export interface WorkerData
  extends Pick<WorkerEntry, 'host' | 'pid' | 'version' | 'baseUrl' | 'active' | 'concurrency' | 'finished'> {
  /** Its part of the calls that all workers of the API made in the last seconds. */
  readonly share?: number;
  /** When it was last heard of; absent while it is there. */
  readonly lastSeenAt?: string;
}

export interface ScheduleData extends Pick<Schedule, 'name' | 'cron' | 'tz' | 'paused'> {
  readonly source: string;
  readonly next: readonly string[];
  readonly last?: {
    readonly due: string;
    readonly came: string;
    readonly runs: readonly string[];
    readonly message?: string;
  };
}

/**
 * How often the server sends something on an event stream, at least: the event `alive` when it has no news. A page that
 * has heard nothing for three times as long takes the server for gone.
 */
export const heartbeatMs = 3_000;

/** All that the page shows. */
export interface Snapshot {
  readonly stateDir: string;
  /** The shared datastore, if there is one, and what keeps it from answering. */
  readonly datastore?: { readonly name: string; readonly trouble?: string; readonly since?: string };
  readonly runs: readonly RunData[];
  readonly workers: readonly WorkerData[];
  readonly schedules: readonly ScheduleData[];
  /** Whether a daemon is running, which carries the schedules out. */
  readonly hasDaemon: boolean;
  /** What is damaged or can't be read. */
  readonly warnings: readonly string[];
  /** The run that this reader looks at; null: the state folder has no run of that id. */
  readonly run?: RunDetails | null;
  /** Whether this reader may control runs. */
  readonly mayControl: boolean;
}

/** What a run may be asked to do. */
export const controls = ['pause', 'unpause', 'cancel', 'set-rate'] as const;

export type ControlName = (typeof controls)[number];
