import { setMaxListeners } from 'node:events';
import { withScope } from '../../../base/async/scope.ts';
import { after, onAbort, unlessAborted } from '../../../base/async/waiting.ts';
import type { ProcessLock } from '../../../base/disk/lock.ts';
import { isThisProcess, stateOfProcess } from '../../../base/disk/process.ts';
import { ErrorThrottle } from '../../../base/errors/error-throttle.ts';
import { CqbatchError } from '../../../base/errors/errors.ts';
import { withActor } from '../../../domain/actor.ts';
import { type Priority, priorities } from '../../../domain/terms.ts';
import type { ApiClient } from '../../api/client.ts';
import { isActive } from '../../cluster/entries.ts';
import type { OpenEntryLists } from '../../list/entry-lists.ts';
import { isFinalState } from '../record/ending.ts';
import { lockRun } from '../record/open-run.ts';
import { enterState, priorityOf, type RunRecord } from '../record/record.ts';
import { refuseChangedRows } from '../record/run-rows.ts';
import type { RunStore } from '../record/store.ts';
import type { RunReports } from '../report/report-run.ts';
import { executeRun } from './execute-run.ts';
import type { ExecuteRunOptions } from './run-in-progress.ts';

export interface CoordinateOptions
  extends Pick<
    ExecuteRunOptions,
    'store' | 'datastore' | 'queue' | 'version' | 'log' | 'observer' | 'lastingErrors'
  > {
  /** Why other processes must take a run, for display. Default: takes every run. */
  readonly refusalOf?: ((record: RunRecord) => string | undefined) | undefined;
  readonly callerFor?: ((record: RunRecord) => Promise<Caller>) | undefined;
  /** For runs that compare rows. */
  readonly listsFor?: ((record: RunRecord) => OpenEntryLists) | undefined;
  readonly listener?: RunListener | undefined;
  /** Another daemon on the state folder can then take its runs over. */
  readonly stop: AbortSignal;
}

export interface Caller extends Pick<ExecuteRunOptions, 'estimates' | 'onEvent'> {
  readonly client: ApiClient;
}

export interface RunListener {
  runStarted(): void;
  runEnded(record: RunRecord, reports: RunReports): void;
  /** @param runId absent when no run was created */
  runFailed(error: Error, runId?: string): void;
}

const pollMs = 250;
/** At each such poll, ended runs are read again: they may have been pruned, and their ids reused. */
const fullPollEvery = 120;
/** Each run has a window of rows in memory and in the datastore. Lower priorities leave room. */
const maxRuns = { high: 48, normal: 32, low: 16 } as const satisfies Record<Priority, number>;

/**
 * Coordinates submitted runs, and runs whose coordinator died. With the embedded datastore this process also calls the API, for one run at
 * a time.
 */
export async function coordinateRuns(options: CoordinateOptions): Promise<void> {
  const { store, log, stop, refusalOf } = options;
  const { exclusive, lost } = options.datastore;
  const errors = new ErrorThrottle();
  const warnOnce = (error: Error): void => {
    if (errors.isNews(error)) log.error({ err: error.message }, 'cannot take a run');
  };
  /** `leave` hands a run to another coordinator. */
  const going = new Map<string, { readonly work: Promise<void>; readonly leave: () => void }>();
  setMaxListeners(2 * maxRuns.high, stop, lost);
  // Ended runs are not read again.
  const ended = new Set<string>();
  for (let polls = 1; !stop.aborted; polls++) {
    if (polls % fullPollEvery === 0) ended.clear();
    try {
      const records = await store.list(warnOnce, ended);
      for (const { id, state } of records) if (isFinalState(state)) ended.add(id);
      for (const record of runsToBegin(records)) if (!stop.aborted && hasRoom(record)) await begin(record);
    } catch (error) {
      log.error({ err: (error as Error).message }, 'cannot read the state folder');
    }
    await unlessAborted(after(pollMs), stop);
  }
  await Promise.all([...going.values()].map(({ work }) => work));

  function waitingRuns(records: readonly RunRecord[]): readonly RunRecord[] {
    const waiting: RunRecord[] = [];
    for (const record of records) {
      if (going.has(record.id) || !isClaimable(record)) continue;
      const refusal = refusalOf?.(record);
      if (refusal === undefined) waiting.push(record);
      else warnOnce(new Error(`run ${record.id} is skipped: ${refusal}`));
    }
    return waiting;
  }

  /**
   * The highest priority first, then the first submitted. On an exclusive datastore, a run of a higher priority interrupts the run in
   * progress.
   */
  function runsToBegin(records: readonly RunRecord[]): readonly RunRecord[] {
    const waiting = byPriority(waitingRuns(records));
    if (!exclusive) return waiting;
    const here = records.filter(({ id }) => going.has(id));
    const [first] = byPriority([...here, ...waiting]);
    for (const [id, { leave }] of going) if (id !== first?.id) leave();
    return waiting.filter((record) => record === first);
  }

  function hasRoom(record: RunRecord): boolean {
    return going.size < (exclusive ? 1 : maxRuns[priorityOf(record)]);
  }

  async function begin(record: RunRecord): Promise<void> {
    const lock = await tryLock(store, record.id);
    if (lock === undefined) return;
    const { id } = record;
    const leaving = new AbortController();
    const work = coordinate(options, lock, id, leaving.signal)
      // A full disk, for example, fails one run; the other runs continue.
      .catch((error: Error) => log.error({ run: id, err: error.message }, 'stopping the run failed'))
      .finally(() => going.delete(id));
    going.set(id, { work, leave: () => leaving.abort() });
  }
}

function byPriority(records: readonly RunRecord[]): readonly RunRecord[] {
  const rankOf = (record: RunRecord): number => priorities.indexOf(priorityOf(record));
  return records.toSorted((a, b) => rankOf(a) - rankOf(b));
}

/** Whether the record shows that a run waits for a coordinator. The lock of the run decides. */
function isClaimable(record: RunRecord): boolean {
  const { submitted, state, process } = record;
  if (submitted !== true) return false;
  if (state === 'submitted') return true;
  if (!isActive(state)) return false;
  // The folder was missing when the run failed here, so its record does not show the failure.
  if (process !== undefined && isThisProcess(process)) return true;
  // Only the age of its lock shows whether a process of another machine is alive.
  return process === undefined || stateOfProcess(process) !== 'alive';
}

async function tryLock(store: RunStore, id: string): Promise<ProcessLock | undefined> {
  try {
    return await lockRun(store.folder(id), id, 'coordinate');
  } catch (error) {
    if (error instanceof CqbatchError && error.code === 'RUN_LOCKED') return undefined;
    throw error;
  }
}

async function coordinate(
  options: CoordinateOptions,
  lock: ProcessLock,
  id: string,
  leave: AbortSignal,
): Promise<void> {
  const { store, log, stop, callerFor, listsFor, listener } = options;
  await withScope(async (defer) => {
    defer(() => lock.release());
    // Listeners must not pile up on the daemon's signal.
    const interrupt = new AbortController();
    for (const signal of [stop, leave]) defer(onAbort(signal, () => interrupt.abort()));
    const record = await store.load(id);
    if (!isClaimable(record)) return;
    log.info({ run: id, rows: record.plan.rows }, 'coordinating');
    try {
      await refuseChangedRows(store, record);
      const caller = await callerFor?.(record);
      defer(() => caller?.client.close());
      listener?.runStarted();
      const {
        end,
        record: ended,
        reports,
      } = await executeRun({
        ...options,
        record,
        budget: record.budget,
        openLists: listsFor?.(record),
        // A failed run would not resume by itself: the daemon waits, as its workers do.
        waitsForDatastore: true,
        ...(caller ?? { client: undefined }),
        lock,
        handOver: true,
        attribution: withActor(),
        interrupt: interrupt.signal,
      });
      log.info({ run: id, state: end.state }, 'no longer coordinating');
      if (reports !== undefined) listener?.runEnded(ended, reports);
    } catch (error) {
      const { message } = error as Error;
      log.error({ run: id, err: message }, 'the work on the run has failed');
      // Another process has the run, or its folder was missing, perhaps briefly: the next poll finds the run.
      if (error instanceof CqbatchError && ['LOCK_LOST', 'JOURNAL_REMOVED'].includes(error.code)) return;
      // A second try would fail in the same way. An ended run lacks only its report.
      const current = await store.load(id);
      if (isClaimable(current)) await store.save(enterState(current, 'failed', { reason: message }));
      listener?.runFailed(error as Error, id);
    }
  });
}
