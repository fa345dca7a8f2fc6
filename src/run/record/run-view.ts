import { steadyTimeOf } from '../../clock.ts';
import type { Cluster } from '../../cluster/cluster.ts';
import {
  actualEntryState,
  isActive,
  isPresent,
  type PublishedPace,
  type RunEntry,
  type WorkerEntry,
} from '../../cluster/entries.ts';
import { type LimitedApi, type OutcomeCounts, type Priority, totalOf, usualPriority } from '../../domain.ts';
import type { CodeCount } from '../../journal/state.ts';
import type { Pace } from '../../pace.ts';
import { readRateHistory } from '../../report/rate-history.ts';
import { averageRate } from '../../report/summary.ts';
import { isInUse } from './in-use.ts';
import { actualState, endOf, isResumable, priorityOf, type RunRecord } from './record.ts';
import { type KnownSummary, readJournalSummary } from './run-journal.ts';
import type { RunStore } from './store.ts';

/** The state of a run, from the state folder, the datastore or both. */
export interface RunView extends LimitedApi {
  readonly id: string;
  readonly state: string;
  /** Why it ended, where its state does not say so. */
  readonly because: string | undefined;
  /** Whether no process works on it or its report, or will without a command. */
  readonly ended: boolean;
  readonly manifest: string;
  readonly rows: number;
  /** Rows with a result. */
  readonly done: number;
  /** Counted as in the report; rows still to be called are not included. */
  readonly counts: OutcomeCounts;
  /** Rate of the last seconds if its coordinator publishes it, or the average. */
  readonly throughput?: { readonly rowsPerSecond: number; readonly of: 'now' | 'average' } | undefined;
  /** The process that feeds and collects the run, while active. */
  readonly coordinator?:
    | { readonly host: string; readonly pid: number; readonly version?: string; readonly seenAt?: string }
    | undefined;
  readonly workers: readonly WorkerEntry[];
  /** How the API is called at the moment. */
  readonly pace?:
    | Pick<Pace, 'rate' | 'limit' | 'concurrency' | 'phase' | 'reason' | 'restUntil' | 'restBy'>
    | undefined;
  /** The requested rate, as the user wrote it. */
  readonly wantedRate: string;
  readonly priority: Priority;
  /** What only the state folder knows; absent for a run of another machine. */
  readonly local?: {
    /** These three are absent unless the journal was read. */
    readonly unclear?: number;
    readonly held?: number;
    readonly codes?: readonly CodeCount[];
    readonly states: RunRecord['states'];
    readonly retryOf?: string | undefined;
    readonly resumable: boolean;
    /** Whether its rows are on a shared datastore. */
    readonly isShared: boolean;
  };
}

/** How an API is called at the moment, according to the shared datastore. */
export interface LiveApi {
  /** Workers on all machines that call it. */
  readonly workers: readonly WorkerEntry[];
  /** Undefined without a leading worker. */
  readonly pace: PublishedPace | undefined;
}

/** What the shared datastore knows of a run and its API. */
export interface LiveRun extends LiveApi {
  readonly entry: RunEntry | undefined;
}

export async function liveApi(cluster: Cluster, api: LimitedApi): Promise<LiveApi> {
  const [workers, pace] = await Promise.all([cluster.workers(api), cluster.pace(api)]);
  return { workers, pace: pace && isPresent(pace) ? pace : undefined };
}

export async function liveRun(cluster: Cluster, runId: string): Promise<LiveRun> {
  const entry = await cluster.run(runId);
  const api = entry === undefined ? { workers: [], pace: undefined } : await liveApi(cluster, entry);
  return { entry, ...api };
}

/**
 * A run of this state folder.
 *
 * @param summary the progress in its journal, if already read
 */
export async function viewOfRecord(
  store: RunStore,
  record: RunRecord,
  live: LiveRun | undefined,
  summary?: KnownSummary,
): Promise<RunView> {
  const known: KnownSummary = summary ?? (await readJournalSummary(store, record));
  const { done, outcomes: counts, unclear, held, codes, activeMs } = known;
  const state = actualState(record);
  const entry = live?.entry && isPresent(live.entry) ? live.entry : undefined;
  const active = isActive(state);
  return {
    id: record.id,
    state,
    because: endOf(record).because,
    wantedRate: record.options.rate?.text ?? 'none',
    priority: priorityOf(record),
    ended: !active && state !== 'submitted' && !(await isInUse(store, record)),
    manifest: record.manifest.name,
    baseUrl: record.options.baseUrl,
    rateGroup: record.options.rateGroup,
    rows: record.plan.rows,
    done,
    counts,
    throughput:
      active && entry !== undefined
        ? { rowsPerSecond: entry.rowsPerSecond, of: 'now' }
        : averageOf(counts, activeMs),
    coordinator: active ? (coordinatorOf(entry) ?? record.process) : undefined,
    workers: active ? (live?.workers ?? []) : [],
    pace: active ? (live?.pace ?? (await paceFromFolder(store.folder(record.id)))) : undefined,
    local: {
      ...(unclear !== undefined && { unclear }),
      ...(held !== undefined && { held }),
      ...(codes !== undefined && { codes }),
      states: record.states,
      retryOf: record.retryOf,
      resumable: isResumable(state) && state !== 'submitted',
      isShared: record.queue !== undefined,
    },
  };
}

/** A run of another machine, known only from the shared datastore. */
export function viewOfEntry(known: RunEntry, live: LiveRun | undefined): RunView {
  const entry = live?.entry ?? known;
  const state = actualEntryState(entry);
  const active = isActive(state);
  return {
    id: entry.id,
    state,
    because: entry.because,
    wantedRate: entry.rate?.text ?? 'none',
    priority: entry.priority ?? usualPriority,
    ended: entry.state !== 'submitted' && !active && (entry.left === true || !isPresent(entry)),
    manifest: entry.manifest,
    baseUrl: entry.baseUrl,
    rateGroup: entry.rateGroup,
    rows: entry.rows,
    done: entry.done ?? totalOf(entry.counts),
    counts: entry.counts,
    throughput: active ? { rowsPerSecond: entry.rowsPerSecond, of: 'now' } : undefined,
    coordinator: coordinatorOf(entry),
    workers: isActive(entry.state) ? (live?.workers ?? []) : [],
    pace: active ? live?.pace : undefined,
  };
}

/** How the API was called a few seconds ago. */
async function paceFromFolder(folder: string): Promise<RunView['pace']> {
  const history = await readRateHistory(folder);
  if (history === undefined) return undefined;
  const { allowed_per_s, limit_per_s, concurrency, phase, reason, wait_until, wait_by } = history;
  return {
    ...(allowed_per_s !== null && { rate: allowed_per_s }),
    ...(limit_per_s !== null && { limit: limit_per_s }),
    concurrency,
    phase,
    reason,
    ...(wait_until !== null && { restUntil: steadyTimeOf(Date.parse(wait_until)), restBy: wait_by }),
  };
}

function coordinatorOf(entry: RunEntry | undefined): RunView['coordinator'] {
  return entry && { ...entry.coordinator, seenAt: entry.seenAt };
}

function averageOf(counts: OutcomeCounts, activeMs: number): RunView['throughput'] {
  const rowsPerSecond = averageRate(counts, activeMs);
  return rowsPerSecond === undefined ? undefined : { rowsPerSecond, of: 'average' };
}
