import { steadyNow, steadyTimeOf } from '../../../base/async/clock.ts';
import { shellWord } from '../../../base/text/shell-word.ts';
import { noticeableRestMs, type Pace, restAdvice } from '../../../domain/pace.ts';
import {
  apiText,
  type LimitedApi,
  type OutcomeCounts,
  type Priority,
  totalOf,
  usualPriority,
} from '../../../domain/terms.ts';
import type { Cluster } from '../../cluster/cluster.ts';
import {
  actualEntryState,
  isActive,
  isPresent,
  type PublishedPace,
  paceSeenBy,
  type RunEntry,
  type WorkerEntry,
} from '../../cluster/entries.ts';
import { findRunAhead } from '../../cluster/run-ahead.ts';
import type { CodeCount } from '../../journal/state.ts';
import type { NextStep } from '../../report/next-steps.ts';
import { readRateHistory } from '../../report/rate-history.ts';
import { averageRate } from '../../report/summary.ts';
import { actualState, endOf, isResumable, priorityOf, type RunRecord } from './record.ts';
import { type KnownSummary, readJournalSummary } from './run-journal.ts';
import { isInUse } from './run-lock.ts';
import { stepsOfRun } from './run-steps.ts';
import type { RunStore } from './store.ts';

/** Why no row is called now. The text completes `Waiting …`. */
export interface RunWait {
  readonly of: 'api' | 'daemon' | 'datastore' | 'run' | 'user' | 'worker';
  readonly text: string;
}

/** A run as the state folder, the datastore or both know it. */
export interface RunView extends LimitedApi {
  readonly id: string;
  readonly state: string;
  readonly because: string | undefined;
  /** Whether no process works on the run or its report, or will without a command. */
  readonly ended: boolean;
  readonly manifest: string;
  readonly startedAt: string | undefined;
  readonly rows: number;
  readonly done: number;
  /** As in the report, without rows that are still to be called. */
  readonly counts: OutcomeCounts;
  /** Undefined unless known: the rate of the last seconds, or of the active time. */
  readonly throughput?: { readonly rowsPerSecond: number; readonly of: 'now' | 'average' } | undefined;
  readonly coordinator?:
    | { readonly host: string; readonly pid: number; readonly version?: string; readonly seenAt?: string }
    | undefined;
  readonly workers: readonly WorkerEntry[];
  readonly pace?:
    | Pick<Pace, 'rate' | 'limit' | 'concurrency' | 'phase' | 'reason' | 'restUntil' | 'restBy' | 'away'>
    | undefined;
  readonly wantedRate: string;
  readonly priority: Priority;
  /** Undefined while rows are called. */
  readonly wait: RunWait | undefined;
  /** Absent for a run of another machine. */
  readonly local?: LocalFacts | undefined;
}

/** What only the state folder knows. */
interface LocalFacts {
  /** Like `held` and `codes`, absent unless the journal was read or the record of the ended run has the number. */
  readonly unclear?: number | undefined;
  readonly activeMs: number;
  readonly held?: number | undefined;
  readonly codes?: readonly CodeCount[] | undefined;
  readonly states: RunRecord['states'];
  readonly retryOf?: string | undefined;
  /** Of a run that is paused or has stopped. */
  readonly steps: readonly NextStep[];
  readonly isShared: boolean;
}

export interface LiveApi {
  /** Workers on all machines. */
  readonly workers: readonly WorkerEntry[];
  /** Undefined without a leading worker. */
  readonly pace: PublishedPace | undefined;
}

export interface LiveRun extends LiveApi {
  readonly entry: RunEntry | undefined;
  /** See `runAhead`. */
  readonly ahead?: string | undefined;
}

export async function liveApi(cluster: Cluster, api: LimitedApi): Promise<LiveApi> {
  const [workers, pace] = await Promise.all([cluster.workers(api), cluster.pace(api)]);
  return { workers, pace: paceSeenBy(workers, pace && isPresent(pace) ? pace : undefined) };
}

export async function liveRun(cluster: Cluster, runId: string): Promise<LiveRun> {
  const entry = await cluster.run(runId);
  if (entry === undefined) return { entry, workers: [], pace: undefined };
  const api = await liveApi(cluster, entry);
  return { entry, ...api, ahead: await findRunAhead(cluster, entry, api.pace) };
}

/** @param summary if already read */
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
  const workers = active ? (live?.workers ?? []) : [];
  const pace = active ? (live?.pace ?? (await paceFromFolder(store.folder(record.id)))) : undefined;
  const isWaiting = state === 'paused' || (isResumable(state) && state !== 'submitted');
  const starts = record.states.filter((entered) => entered.state === 'running');
  const { baseUrl, rateGroup } = record.options;
  return {
    id: record.id,
    state,
    wait: waitOf(
      {
        id: record.id,
        state,
        waiting: record.waiting,
        pace,
        workers,
        baseUrl,
        rateGroup,
        ahead: entry && live?.ahead,
      },
      starts.at(-1)?.at,
      entry !== undefined,
    ),
    because: endOf(record).because,
    wantedRate: record.options.rate?.text ?? 'none',
    priority: priorityOf(record),
    ended: !active && state !== 'submitted' && !(await isInUse(store, record)),
    manifest: record.manifest.name,
    startedAt: starts[0]?.at,
    baseUrl,
    rateGroup,
    rows: record.plan.rows,
    done,
    counts,
    throughput:
      active && entry !== undefined
        ? { rowsPerSecond: entry.rowsPerSecond, of: 'now' }
        : averageOf(counts, activeMs),
    coordinator: active ? (coordinatorOf(entry) ?? record.process) : undefined,
    workers,
    pace,
    local: {
      unclear,
      activeMs,
      held,
      codes,
      states: record.states,
      retryOf: record.retryOf,
      steps: isWaiting
        ? stepsOfRun(store, record, { outcomes: counts, unclear: unclear ?? 0, codes: codes ?? [] })
        : [],
      isShared: record.queue !== undefined,
    },
  };
}

/** Shows a run of another machine. */
export function viewOfEntry(known: RunEntry, live: LiveRun | undefined): RunView {
  const entry = live?.entry ?? known;
  const state = actualEntryState(entry);
  const active = isActive(state);
  const workers = isActive(entry.state) ? (live?.workers ?? []) : [];
  const pace = active ? live?.pace : undefined;
  return {
    id: entry.id,
    state,
    wait: waitOf({ ...entry, state, workers, pace, ahead: live?.ahead }, entry.startedAt, live !== undefined),
    because: entry.because,
    wantedRate: entry.rate?.text ?? 'none',
    priority: entry.priority ?? usualPriority,
    ended: entry.state !== 'submitted' && !active && (entry.left === true || !isPresent(entry)),
    manifest: entry.manifest,
    startedAt: entry.startedAt,
    baseUrl: entry.baseUrl,
    rateGroup: entry.rateGroup,
    rows: entry.rows,
    done: entry.done ?? totalOf(entry.counts),
    counts: entry.counts,
    throughput: active ? { rowsPerSecond: entry.rowsPerSecond, of: 'now' } : undefined,
    coordinator: coordinatorOf(entry),
    workers,
    pace,
  };
}

async function paceFromFolder(folder: string): Promise<RunView['pace']> {
  const history = await readRateHistory(folder);
  if (history === undefined) return undefined;
  const { allowed_per_s, limit_per_s, concurrency, phase, reason, wait_until, wait_by, away } = history;
  return {
    rate: allowed_per_s ?? undefined,
    limit: limit_per_s ?? undefined,
    concurrency,
    phase,
    reason,
    restUntil: wait_until === null ? undefined : steadyTimeOf(Date.parse(wait_until)),
    restBy: wait_by,
    away: away && {
      why: away.why,
      since: steadyTimeOf(Date.parse(away.since)),
      givesUpAt: away.gives_up_at === null ? undefined : steadyTimeOf(Date.parse(away.gives_up_at)),
    },
  };
}

function coordinatorOf(entry: RunEntry | undefined): RunView['coordinator'] {
  return entry && { ...entry.coordinator, seenAt: entry.seenAt };
}

function averageOf(counts: OutcomeCounts, activeMs: number): RunView['throughput'] {
  const rowsPerSecond = averageRate(counts, activeMs);
  return rowsPerSecond === undefined ? undefined : { rowsPerSecond, of: 'average' };
}

export function delayOf(record: RunRecord): string | undefined {
  return actualState(record) === 'running' ? record.waiting : undefined;
}

/** Workers are not known at once. */
const unservedAfterMs = 5_000;

/**
 * Undefined for a run that is called, or has ended.
 *
 * @param startedAt the last start or resume, if known
 * @param isShared whether other processes call its rows, and are known
 */
export function waitOf(
  view: Pick<RunView, 'id' | 'state' | 'pace' | 'workers'> &
    Pick<RunRecord, 'waiting'> &
    Pick<LiveRun, 'ahead'> &
    LimitedApi,
  startedAt: string | undefined,
  isShared: boolean,
): RunWait | undefined {
  const { id, state, waiting, pace, workers, ahead } = view;
  if (state === 'submitted')
    return { of: 'daemon', text: 'for a daemon: start "cqbatch worker --coordinate"' };
  if (state === 'paused') return { of: 'user', text: 'until it is unpaused' };
  if (state !== 'running') return undefined;
  if (waiting !== undefined) return { of: 'datastore', text: waiting };
  if (isShared && workers.length === 0) {
    const isNew = startedAt !== undefined && Date.now() - Date.parse(startedAt) < unservedAfterMs;
    return isNew ? undefined : { of: 'worker', text: unservedText(view) };
  }
  if (ahead !== undefined) return { of: 'run', text: ahead };
  if (pace === undefined) return undefined;
  const isResting = (pace.restUntil ?? 0) - steadyNow() >= noticeableRestMs;
  if (!isResting && pace.phase !== 'waiting') return undefined;
  return {
    of: 'api',
    text: [pace.reason, restAdvice(pace, id)].filter((text) => text !== undefined).join('; '),
  };
}

export function unservedText(api: LimitedApi): string {
  const { baseUrl, rateGroup } = api;
  const words = ['cqbatch worker', '--base-url', shellWord(baseUrl)];
  if (rateGroup !== undefined) words.push('--rate-group', shellWord(rateGroup));
  return `for a worker: none serves ${apiText(api)}; start one: ${words.join(' ')}`;
}
