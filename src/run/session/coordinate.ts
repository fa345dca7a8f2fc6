import { setMaxListeners } from 'node:events';
import { hostname } from 'node:os';
import { attributed } from '../../actor.ts';
import type { ApiClient } from '../../api/client.ts';
import { isActive } from '../../cluster/entries.ts';
import type { Datastore } from '../../datastore/datastore.ts';
import type { ProcessLock } from '../../disk/lock.ts';
import { isThisProcess } from '../../disk/process.ts';
import { ErrorNews } from '../../error-news.ts';
import { CqbatchError } from '../../errors.ts';
import { withReleases } from '../../releases.ts';
import type { WrittenReports } from '../../report/write-reports.ts';
import { after, deferred, onAbort, orAborted } from '../../waiting.ts';
import { refuseChangedManifest } from '../plan/run-manifest.ts';
import { lockRun } from '../record/open-run.ts';
import { actualState, enterState, type RunRecord } from '../record/record.ts';
import type { RunStore } from '../record/store.ts';
import { executeRun } from './execute-run.ts';
import type { ExecuteRunOptions } from './execution-options.ts';

export interface CoordinateOptions
  extends Pick<ExecuteRunOptions, 'store' | 'datastore' | 'queue' | 'version' | 'log' | 'observer'> {
  /** The base URL of the only API whose runs are taken; absent: all are. */
  readonly onlyApi?: string | undefined;
  /** What calls the API for a run; absent: workers elsewhere do. */
  readonly callerFor?: ((record: RunRecord) => Promise<Caller>) | undefined;
  /** Tells about each run that begins or goes on. */
  readonly news?: RunNews | undefined;
  /** Aborts when the daemon is to stop: its runs are then handed over to another one that sees the state folder. */
  readonly stop: AbortSignal;
}

/** What calls the API in this process. */
export interface Caller extends Pick<ExecuteRunOptions, 'estimates' | 'onStarted'> {
  readonly client: ApiClient;
}

/** Hears of the runs that are taken to their end. */
export interface RunNews {
  started(): void;
  ended(record: RunRecord, reports: WrittenReports): void;
  failed(error: Error): void;
}

const lookMs = 1_000;
/** A run that has ended is read again after this number of looks: it may have been pruned since, and its id taken by another. */
const looksAtAll = 30;
/** Each has a window of rows in memory and in the datastore. */
const maxRuns = 16;

/**
 * Coordinates the runs that were submitted to a state folder, also those whose coordinator has died, until it is told
 * to stop. Workers call the API; on the embedded datastore this process does, for one run after the other.
 */
export async function coordinateRuns(options: CoordinateOptions): Promise<void> {
  const { store, log, stop, onlyApi } = options;
  const most = options.datastore.exclusive ? 1 : maxRuns;
  const errors = new ErrorNews();
  const warnOnce = (error: Error): void => {
    if (errors.isNews(error)) log.error({ err: error.message }, 'cannot take a run');
  };
  const running = new Map<string, Promise<void>>();
  setMaxListeners(2 * maxRuns, stop);
  // Of which there are more and more.
  const ended = new Set<string>();
  for (let looks = 1; !stop.aborted; looks++) {
    if (looks % looksAtAll === 0) ended.clear();
    try {
      const records = await store.list(warnOnce, ended);
      for (const { id, state } of records) if (state === 'completed' || state === 'cancelled') ended.add(id);
      for (const record of records) {
        if (running.size >= most || stop.aborted) break;
        if (running.has(record.id) || !isClaimable(record)) continue;
        if (onlyApi !== undefined && record.options.baseUrl !== onlyApi) {
          warnOnce(new Error(`run ${record.id} is for ${record.options.baseUrl}, not ${onlyApi}: skipped`));
          continue;
        }
        const lock = await tryLock(store, record.id);
        if (lock === undefined) continue;
        const { id } = record;
        const work = coordinate(options, lock, id)
          // A full disk, say: the other runs go on.
          .catch((error: Error) => log.error({ run: id, err: error.message }, 'stopping the run failed'))
          .finally(() => running.delete(id));
        running.set(id, work);
      }
    } catch (error) {
      log.error({ err: (error as Error).message }, 'cannot read the state folder');
    }
    await orAborted(after(lookMs), stop);
  }
  await Promise.all(running.values());
}

/**
 * Whether a run that does not run here waits for a coordinator, as far as its record tells; the lock has the last word.
 */
function isClaimable(record: RunRecord): boolean {
  const { submitted, state, process } = record;
  if (submitted !== true) return false;
  if (state === 'submitted') return true;
  if (!isActive(state)) return false;
  // Its folder was away when it failed here, so that its record does not say so.
  if (process !== undefined && isThisProcess(process)) return true;
  // Whether a process of another machine is alive, only the age of its lock can tell.
  return process?.host !== hostname() || !isActive(actualState(record));
}

async function tryLock(store: RunStore, id: string): Promise<ProcessLock | undefined> {
  try {
    return await lockRun(store.folder(id), id, 'coordinate');
  } catch (error) {
    if (error instanceof CqbatchError && error.code === 'RUN_LOCKED') return undefined;
    throw error;
  }
}

async function coordinate(options: CoordinateOptions, lock: ProcessLock, id: string): Promise<void> {
  const { store, log, stop, callerFor, news } = options;
  await withReleases(async (atEnd) => {
    atEnd(() => lock.release());
    // Of its own: what listens to it must not pile up on the daemon's signal from run to run.
    const interrupt = new AbortController();
    atEnd(onAbort(stop, () => interrupt.abort()));
    // It may have ended between the look at its record and the lock.
    const record = await store.load(id);
    if (!isClaimable(record)) return;
    log.info({ run: id, rows: record.plan.rows }, 'coordinating');
    try {
      await refuseChangedManifest(store, record);
      const caller = await callerFor?.(record);
      atEnd(() => caller?.client.close());
      news?.started();
      const {
        end,
        record: ended,
        reports,
      } = await executeRun({
        ...options,
        record,
        budget: record.budget,
        datastore: options.datastore.exclusive ? options.datastore : patient(options.datastore),
        ...(caller ?? { client: undefined }),
        lock,
        handOver: true,
        attribution: attributed(),
        interrupt: interrupt.signal,
      });
      log.info({ run: id, state: end.state }, 'no longer coordinating');
      if (reports !== undefined) news?.ended(ended, reports);
    } catch (error) {
      const { message } = error as Error;
      log.error({ run: id, err: message }, 'the run has failed');
      // Another process has it, or its folder was away, perhaps for a moment only: it is looked for again.
      if (error instanceof CqbatchError && ['LOCK_LOST', 'JOURNAL_REMOVED'].includes(error.code)) return;
      // To try it again would fail in the same way.
      await store.save(enterState(await store.load(id), 'failed', { reason: message }));
      news?.failed(error as Error);
    }
  });
}

/**
 * The daemon's datastore, which no run takes for lost. A run that failed would not be gone on with by itself, so a daemon
 * waits, as its workers do, until the disk of Redis has space again.
 */
function patient(datastore: Datastore): Datastore {
  return Object.create(datastore, { lost: { value: deferred<Error>().promise } });
}
