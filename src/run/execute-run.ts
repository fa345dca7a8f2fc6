import type { Logger } from 'pino';
import type { ApiClient } from '../api/client.ts';
import { openCluster } from '../cluster/cluster.ts';
import type { RunEntry } from '../cluster/entries.ts';
import { onlyMember } from '../cluster/member.ts';
import type { Datastore } from '../datastore/datastore.ts';
import { type CqbatchError, fatalError, usageError } from '../errors.ts';
import { makePrivate } from '../files.ts';
import type { Journal } from '../journal/journal.ts';
import type { ProcessLock } from '../lock.ts';
import type { Pace, PaceReport } from '../pace.ts';
import { openRowQueue, type RowQueue } from '../queue/row-queue.ts';
import type { CallsInFlight } from '../rate/traffic-meter.ts';
import { removeNotAttempted, type WrittenReports } from '../report/write-reports.ts';
import { systemError } from '../system-error.ts';
import { aborted, after } from '../waiting.ts';
import { clearCommand, watchCommands } from './control-command.ts';
import { startHeartbeat } from './heartbeat.ts';
import { keepLearned, type LearnedLimits } from './learned-limits.ts';
import { Progress } from './progress.ts';
import { RateLog } from './rate-log.ts';
import type { RunRecord } from './record.ts';
import { RecordKeeper, withTimeOfDead } from './record-keeper.ts';
import { reportRun } from './report-run.ts';
import { announce, entryOf } from './run-entry.ts';
import { type RunEnd, runHere } from './run-here.ts';
import { openRunJournal } from './run-journal.ts';
import { lockRun } from './run-lock.ts';
import { openManifestCopy, unfinishedTasks } from './run-manifest.ts';
import { claimForOurselves } from './stopped-runs.ts';
import type { RunStore } from './store.ts';

export interface ExecuteRunOptions {
  readonly store: RunStore;
  /** Planned, or stopped before its end. */
  readonly record: RunRecord;
  /** Opens the datastore for this purpose; it is closed at the end. */
  readonly openDatastore: (purpose: string) => Promise<Datastore>;
  /** The shared datastore without its password; absent for the embedded one. */
  readonly queue?: string | undefined;
  /** The journal of a new run, open already; it is closed at the end. That of another run is opened here. */
  readonly journal?: Journal | undefined;
  /** Calls the API; without it, workers elsewhere must. */
  readonly client: ApiClient | undefined;
  /** What earlier runs have learned of the API's limits; what this one learns goes there. */
  readonly learned?: LearnedLimits | undefined;
  /** The lock on the run, when it is held already; it is not released here. */
  readonly lock?: ProcessLock;
  /** Whether an interrupt leaves the run to another coordinator. Default: it ends there, to be resumed. */
  readonly handOver?: boolean;
  /** Version of the program, for those who look at a shared datastore. */
  readonly version: string;
  readonly log: Logger;
  /** Aborts when the user wants the run to stop. */
  readonly interrupt: AbortSignal;
  /** Called before the first row is fed. */
  readonly onStarted?: (started: StartedRun) => void;
  /** Called when no more rows are called, before the report is written. */
  readonly onEnded?: () => void;
  /** Called when a run that had started has failed, before the error is thrown. */
  readonly onFailed?: (left: FailedRun) => void;
}

/** What there is of a run that has failed. */
export interface FailedRun {
  readonly counts: Journal['outcomeCounts'];
  /** Whether all of these results are in the run's folder; else they are those that were seen. */
  readonly intact: boolean;
  /** Whether the run had come to its end, so that only its report is missing. */
  readonly ended: boolean;
}

export interface StartedRun {
  /** Follows the run until its end. */
  readonly progress: Progress;
  /** `trouble` tells what is waited for. */
  readonly datastore: Pick<Datastore, 'trouble' | 'exclusive'>;
}

export interface ExecutedRun {
  readonly record: RunRecord;
  readonly end: RunEnd;
  /** Absent when the run was handed over. */
  readonly reports?: WrittenReports;
}

/** The last entry is not worth waiting longer for a datastore that is away. */
const farewellMs = 2_000;

/**
 * Takes a run from where its journal stands to its end, records each state that it enters, and writes its report,
 * whatever the end is.
 *
 * @throws a fatal error when the datastore or the disk fails; the run is then in state `failed`, if that could still
 *   be written, and can be resumed. A fatal error `RUN_LOCKED` when another process works on it.
 */
export async function executeRun(options: ExecuteRunOptions): Promise<ExecutedRun> {
  const { store } = options;
  const { id } = options.record;
  const datastore = await options.openDatastore(`run ${id}`);
  try {
    // Who has the embedded datastore has all runs of its state folder.
    const own =
      datastore.exclusive || options.lock !== undefined
        ? undefined
        : await lockRun(store.folder(id), id, `run ${id}`);
    const lock = own ?? options.lock;
    await makePrivate(store.folder(id));
    try {
      const rows = openRowQueue(datastore, options.record.options.baseUrl);
      const journal = options.journal ?? (await openRunJournal(store, options.record));
      const lost = Promise.race([datastore.lost, journal.lost, ...(lock === undefined ? [] : [lock.lost])]);
      try {
        return await execute(options, { datastore, lost, rows, journal });
      } finally {
        await journal.close();
        await rows.close();
      }
    } finally {
      await own?.release();
    }
  } finally {
    await datastore.close();
  }
}

/** What a run works with. */
interface Means {
  readonly datastore: Datastore;
  readonly rows: RowQueue;
  readonly journal: Journal;
  /** Resolves when the datastore, or the right to work on the run, is gone for good. */
  readonly lost: Promise<Error>;
}

async function execute(options: ExecuteRunOptions, means: Means): Promise<ExecutedRun> {
  const { store, log } = options;
  const { datastore, journal } = means;
  const { id, options: runOptions } = options.record;
  const runFolder = store.folder(id);
  const onError = (error: Error): void => log.warn({ run: id, err: error.message }, 'datastore error');
  const planned = await openManifestCopy(store, options.record);
  refuseOtherDatastore(options, journal);
  if (datastore.exclusive) await claimForOurselves(store, id, means, options.interrupt);

  const cluster = datastore.exclusive ? undefined : openCluster(datastore);
  const keeper = new RecordKeeper(
    store,
    withTimeOfDead(withoutQueue(options.record), journal.lastFinishedAt),
  );
  void means.lost.then(() => keeper.close());
  keeper.enter('running', options.queue === undefined ? {} : { queue: options.queue });
  const progress = new Progress({
    rows: options.record.plan.rows,
    counts: journal.outcomeCounts,
    timeoutMs: runOptions.timeoutMs,
  });
  const entry = (): RunEntry => entryOf(keeper.record, journal.outcomeCounts, progress);
  let latest: Pace | undefined;
  let workers = 1;
  let ended = false;
  try {
    if (cluster !== undefined) await announce(cluster, entry(), { takeUp: options.handOver !== true });
    if (options.handOver !== true) await clearCommand(runFolder);
    await keeper.save();
    await removeNotAttempted(runFolder);
    options.onStarted?.({ progress, datastore });
    const rateLog = await RateLog.open(runFolder, runOptions.rate?.text ?? 'none');
    const seePace = (pace: PaceReport, inFlight?: CallsInFlight): void => {
      latest = pace;
      rateLog.see(pace);
      progress.seePace(pace, inFlight);
    };
    const commands = watchCommands(id, runFolder, cluster);
    const heartbeat =
      cluster &&
      startHeartbeat({
        cluster,
        entry,
        onClusterStatus({ workers: present, pace }) {
          workers = present;
          progress.seeWorkers(present);
          if (options.client === undefined && pace !== undefined) seePace(pace);
        },
        onError,
      });
    try {
      await Promise.race([heartbeat?.established, aborted(options.interrupt), means.lost]);
      const end = await runHere({
        runId: id,
        options: runOptions,
        ...means,
        total: options.record.plan.rows,
        workers: () => workers,
        tasks: () => unfinishedTasks(id, planned.manifest.rows(), planned.prepare, journal),
        client: options.client,
        commands,
        join: () => cluster?.join(runOptions.baseUrl, options.version) ?? onlyMember(runOptions.rate),
        known: await options.learned?.load(),
        onPace: seePace,
        log,
        onEvent(event) {
          progress.see(event);
          if (event.type === 'paused') {
            keeper.enter(event.paused ? 'paused' : 'running');
            keeper.save().catch((error) => log.error({ run: id, err: error.message }, 'not saved'));
          }
        },
        interrupt: options.interrupt,
        handOver: options.handOver ?? false,
      });
      if (end.state === 'completed') requireAllResults(options.record, journal);
      options.onEnded?.();
      await rateLog.close();
      if (options.learned !== undefined && latest !== undefined)
        await keepLearned(options.learned, latest).catch((error: Error) =>
          log.warn({ err: error.message }, 'what was learned of the limit is not kept'),
        );
      const handedOver = end.state === 'interrupted' && options.handOver === true;
      const counts = { ...journal.outcomeCounts };
      keeper.enter(handedOver ? 'submitted' : end.state, { reason: reasonOf(end), counts });
      await keeper.save();
      ended = true;
      const { record } = keeper;
      return handedOver ? { record, end } : { record, end, reports: await reportRun(store, record, journal) };
    } catch (error) {
      // Who has lost the run to another process must not write what that one has written since.
      const lockLost = (error as CqbatchError).code === 'LOCK_LOST';
      const failure = systemError(error)?.followedBy(`cqbatch ${ended ? 'report' : 'resume'} ${id}`) ?? error;
      if (lockLost) rateLog.abandon();
      else if (!ended) {
        keeper.enter('failed', { reason: (failure as Error).message });
        await keeper
          .save()
          .catch((unsaved: Error) => log.error({ run: id, err: unsaved.message }, 'not saved'));
      }
      const intact = await isIntact(store, id, journal);
      const counts = intact ? journal.outcomeCounts : progress.snapshot().counts;
      options.onFailed?.({ counts, intact, ended });
      throw failure;
    } finally {
      commands.close();
      await rateLog.close();
      await Promise.race([heartbeat?.stop(), after(farewellMs)]).catch(() => {});
    }
  } finally {
    keeper.close();
  }
}

async function isIntact(store: RunStore, id: string, journal: Journal): Promise<boolean> {
  const hasRecord = await store.load(id).then(
    () => true,
    () => false,
  );
  return hasRecord && (await journal.isIntact());
}

/** Whatever may have gone wrong below: a run is not complete while a row has no result. */
function requireAllResults({ id, plan }: RunRecord, { finishedCount }: Journal): void {
  if (finishedCount === plan.rows) return;
  throw fatalError(
    'ROWS_WITHOUT_RESULT',
    `${plan.rows - finishedCount} rows of run ${id} have no result: "cqbatch resume ${id}" calls them.`,
  );
}

function withoutQueue({ queue: _, ...record }: RunRecord): RunRecord {
  return record;
}

/** @throws a usage error when rows of the run may be in a datastore that is not the one at hand. */
function refuseOtherDatastore({ record, queue }: ExecuteRunOptions, journal: Journal): void {
  const held = !journal.unsettledRows()[Symbol.iterator]().next().done;
  if (!held || record.queue === queue) return;
  const was = record.queue === undefined ? 'the embedded datastore' : record.queue;
  const remedy = record.queue === undefined ? 'leave out --queue' : `pass --queue ${record.queue}`;
  throw usageError(
    'OTHER_DATASTORE',
    `Rows of run ${record.id} are still in ${was}, where it was worked on last: ${remedy}.`,
  );
}

function reasonOf(end: RunEnd): string | undefined {
  if (end.state !== 'halted') return undefined;
  return end.because === 'threshold' ? 'more failures than --max-failures allows' : end.reason.message;
}
