import { type OutcomeCounts, totalOf, usualPriority } from '../../../domain/terms.ts';
import { actualEntryState, isActive, isPresent, type RunEntry } from '../../cluster/entries.ts';
import {
  lastPace,
  type RateHistory,
  type RecordedPace,
  readRateHistory,
  recentCurve,
  recentRowRate,
  recordedPace,
} from '../../report/rate-history.ts';
import { averageRate } from '../../report/summary.ts';
import { currentCheck } from '../record/current-check.ts';
import { actualState, endOf, isResumable, priorityOf, type RunRecord } from '../record/record.ts';
import { type KnownSummary, readJournalSummary } from '../record/run-journal.ts';
import { isInUse } from '../record/run-lock.ts';
import { stepsOfRun } from '../record/run-steps.ts';
import type { CompleteCommands, RunStore } from '../record/store.ts';
import type { RunInCluster } from './live-run.ts';
import type { RunBrief, RunFacts, RunProgress, StalledCalls } from './run-facts.ts';
import { completedWait, waitOf } from './run-wait.ts';

export function briefOfRecord(record: RunRecord): RunBrief {
  const { id, manifest, options, plan, states } = record;
  const { baseUrl, rateGroup, rate } = options;
  return {
    id,
    state: actualState(record),
    because: endOf(record).because,
    manifest: manifest.name,
    startedAt: states.find(({ state }) => state === 'running')?.at,
    baseUrl,
    rateGroup,
    rows: plan.rows,
    wantedRate: rate?.text ?? 'none',
    rateSetAt: rate?.setAt ?? record.rates?.at(-1)?.at,
    priority: priorityOf(record),
  };
}

export function briefOfEntry(entry: RunEntry): RunBrief {
  const { id, because, manifest, startedAt, baseUrl, rateGroup, rows, rate, priority } = entry;
  return {
    id,
    state: actualEntryState(entry),
    because,
    manifest,
    startedAt: startedAt === '' ? undefined : startedAt,
    baseUrl,
    rateGroup,
    rows,
    wantedRate: rate?.text ?? 'none',
    rateSetAt: rate?.setAt,
    priority: priority ?? usualPriority,
  };
}

/**
 * The facts of a run of this state folder.
 *
 * @param summary what the journal adds up to, if already read
 */
export async function factsOfRecord(
  store: RunStore,
  record: RunRecord,
  live: RunInCluster | undefined,
  summary?: KnownSummary,
): Promise<RunFacts> {
  const {
    done,
    outcomes: counts,
    unclear,
    waitingRows,
    codes,
    activeMs,
  } = summary ?? (await readJournalSummary(store, record));
  const brief = briefOfRecord(record);
  const { id, state } = brief;
  const entry = live?.entry && isPresent(live.entry) ? live.entry : undefined;
  const active = isActive(state);
  const workers = active ? (live?.workers ?? []) : [];
  const history = active ? await readRateHistory(store.folder(id)) : undefined;
  const pace = active ? paceOf(history, live) : undefined;
  const hasSteps = state === 'paused' || (isResumable(actualState(record)) && state !== 'submitted');
  const isToCheck = !active && (unclear ?? 0) > 0;
  const check = isToCheck ? await currentCheck(store, record) : undefined;
  const reported = { outcomes: counts, unclear: unclear ?? 0, codes: codes ?? [], check };
  const steps = hasSteps || isToCheck ? stepsOfRun(store, record, reported) : [];
  const last = record.states.at(-1);
  const startedAt = record.states.findLast(({ state }) => state === 'running')?.at;
  return {
    ...brief,
    done,
    counts,
    throughput: withinPace(
      active && entry !== undefined
        ? { rowsPerSecond: entry.rowsPerSecond, of: 'now' }
        : (recentOf(history) ?? averageOf(counts, activeMs)),
      pace,
    ),
    retrying: waitingRows,
    pace,
    wait: completedWait(
      waitOf({
        ...brief,
        pauseReason: last?.reason,
        delay: record.waiting,
        isUnserved: entry !== undefined && isUnserved(workers.length, startedAt),
        ahead: entry && live?.ahead,
        pace,
      }),
      store.completed,
    ),
    workerCount: active && entry !== undefined ? workers.length : undefined,
    ended: !active && state !== 'submitted' && !(await isInUse(store, record)),
    coordinator: active ? (coordinatorOf(entry) ?? record.process) : undefined,
    workers,
    local: {
      unclear,
      activeMs,
      codes,
      states: record.states,
      retryOf: record.retryOf,
      steps: hasSteps ? steps : [],
      unclearStep: steps.find(({ group }) => group === 'all unclear'),
      isShared: record.queue !== undefined,
      curve: history && recentCurve(history),
    },
  };
}

/** The facts of a run of another machine. @param completed completes the commands that a person may type about the run */
export function factsOfEntry(
  known: RunEntry,
  live: RunInCluster | undefined,
  completed: CompleteCommands = (text) => text,
): RunFacts {
  const entry = live?.entry ?? known;
  const brief = briefOfEntry(entry);
  const active = isActive(brief.state);
  const workers = isActive(entry.state) ? (live?.workers ?? []) : [];
  const pace = active && live?.pace !== undefined ? recordedPace(live.pace) : undefined;
  return {
    ...brief,
    done: entry.done ?? totalOf(entry.counts),
    counts: entry.counts,
    throughput: active ? withinPace({ rowsPerSecond: entry.rowsPerSecond, of: 'now' }, pace) : undefined,
    pace,
    wait: completedWait(
      waitOf({
        ...brief,
        delay: entry.waiting,
        isUnserved: live !== undefined && isUnserved(workers.length, entry.startedAt),
        ahead: live?.ahead,
        pace,
      }),
      completed,
    ),
    workerCount: active && live !== undefined ? workers.length : undefined,
    ended: entry.state !== 'submitted' && !active && (entry.left === true || !isPresent(entry)),
    coordinator: coordinatorOf(entry),
    workers,
  };
}

/** What the process that works on a run has counted and measured. */
export interface OwnRunFigures {
  readonly rows: number;
  readonly done: number;
  readonly counts: OutcomeCounts;
  readonly rowsPerSecond: number;
  readonly retrying: number;
  readonly pace?: RecordedPace | undefined;
  readonly stalled?: StalledCalls | undefined;
  readonly paused: boolean;
  readonly pauseReason?: string | undefined;
  /** The number of workers on all machines. Undefined when only this process can call the API. */
  readonly workers?: number | undefined;
  readonly isUnserved: boolean;
  readonly ahead?: string | undefined;
}

/**
 * The progress of a run that this process works on. Its figures are newer than the journal.
 *
 * @param delay why the datastore delays the run
 */
export function progressOfWork(
  record: RunRecord,
  figures: OwnRunFigures,
  delay: string | undefined,
): RunProgress {
  const { rows, done, counts, rowsPerSecond, retrying, pace, stalled, paused, pauseReason, workers } =
    figures;
  const brief = { ...briefOfRecord(record), state: paused ? 'paused' : 'running', rows };
  const isCalled = done < rows;
  return {
    ...brief,
    done,
    counts,
    throughput: withinPace({ rowsPerSecond, of: 'now' }, pace),
    retrying,
    pace,
    wait: waitOf({
      ...brief,
      pauseReason,
      delay,
      isUnserved: figures.isUnserved && isCalled,
      ahead: isCalled ? figures.ahead : undefined,
      pace: isCalled ? pace : undefined,
    }),
    workerCount: workers,
    stalled,
  };
}

/** The pace of a run. Without a leading worker, the rate that the process of the run has written down. */
function paceOf(history: RateHistory | undefined, live: RunInCluster | undefined): RecordedPace | undefined {
  return live?.pace === undefined ? history && lastPace(history) : recordedPace(live.pace);
}

function coordinatorOf(entry: RunEntry | undefined): RunFacts['coordinator'] {
  return entry && { ...entry.coordinator, seenAt: entry.seenAt };
}

function recentOf(history: RateHistory | undefined): RunFacts['throughput'] {
  const rowsPerSecond = history && recentRowRate(history);
  return rowsPerSecond === undefined ? undefined : { rowsPerSecond, of: 'now' };
}

/** A rate of rows is never above the rate of calls that is allowed now: one that was measured before a change says too little time is left. */
function withinPace(
  throughput: RunFacts['throughput'],
  pace: RecordedPace | undefined,
): RunFacts['throughput'] {
  const most = pace?.allowed_per_s;
  if (throughput === undefined || most == null || throughput.rowsPerSecond <= most) return throughput;
  return { ...throughput, rowsPerSecond: most };
}

function averageOf(counts: OutcomeCounts, activeMs: number): RunFacts['throughput'] {
  const rowsPerSecond = averageRate(counts, activeMs);
  return rowsPerSecond === undefined ? undefined : { rowsPerSecond, of: 'average' };
}

/** The time after the start before a run counts as unserved: workers are not known at once. */
const unservedAfterMs = 5_000;

/** @param startedAt the last start or resume, if known */
function isUnserved(workers: number, startedAt: string | undefined): boolean {
  if (workers > 0) return false;
  return startedAt === undefined || Date.now() - Date.parse(startedAt) >= unservedAfterMs;
}
