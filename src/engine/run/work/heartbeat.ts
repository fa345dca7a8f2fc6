import { hostname } from 'node:os';
import { steadyNow } from '../../../base/async/clock.ts';
import { repeat } from '../../../base/async/repeat.ts';
import { deferred, unlessAborted, withTimeout } from '../../../base/async/waiting.ts';
import { BusyError, usageError } from '../../../base/errors/errors.ts';
import { usualPriority } from '../../../domain/terms.ts';
import type { Cluster } from '../../cluster/cluster.ts';
import {
  actualEntryState,
  isActive,
  isPresent,
  type PublishedPace,
  paceSeenBy,
  type RunEntry,
} from '../../cluster/entries.ts';
import { findRunAhead } from '../../cluster/run-ahead.ts';
import type { ResultCounts } from '../../report/join-results.ts';
import { unservedText } from '../facts/run-wait.ts';
import { endOf, isSubmittedAfterStop, priorityOf, type RunRecord, runKey } from '../record/record.ts';
import { countsOf } from '../record/run-journal.ts';
import type { Progress } from './progress.ts';
import type { OpenPart } from './run-in-progress.ts';

/** On a shared datastore, shows the run to other processes, and keeps its rows back until its rate is in force. */
export const openHeartbeat: OpenPart = async (inProgress, defer) => {
  const { run, keeper, progress, cluster, options, tellEvent, onError } = inProgress;
  if (cluster === undefined) return {};
  const { journal } = run;
  const entry = () => entryOf(keeper.record, countsOf(keeper.record, journal), progress, options.version);
  await announce(cluster, entry());
  if (!options.handOver || isSubmittedAfterStop(run.record)) await cluster.clearControls(run.record.id);
  const heartbeat = startHeartbeat({
    cluster,
    entry,
    onClusterStatus({ workers, pace, ahead }) {
      const change = progress.seeWorkers(workers);
      const { id, options: limits } = keeper.record;
      if (change === 'unserved') options.log.warn({ run: id }, `rows wait ${unservedText(limits)}`);
      if (change === 'served') options.log.info({ run: id }, 'a worker serves the run');
      progress.ahead = ahead;
      // If this process calls nothing, only the leading worker knows the pace.
      if (options.client === undefined && pace !== undefined) tellEvent({ type: 'pace', pace });
    },
    onError,
  });
  defer(() => withTimeout(heartbeat.stop(), farewellMs));
  let inForce = heartbeat.established;
  return {
    delayReason: () => heartbeat.silence,
    seeEvent(event) {
      const { type } = event;
      if (type === 'paused' && !event.paused) inForce = heartbeat.establishedAgain();
      else if (type === 'paused' || type === 'rate set' || type === 'priority set') heartbeat.now();
    },
    async beforeFeeding(stopping) {
      await unlessAborted(inForce, stopping);
    },
  };
};

function entryOf(
  record: RunRecord,
  { done, outcomes }: ResultCounts,
  progress: Progress,
  version: string,
): RunEntry {
  const { rate, baseUrl, rateGroup } = record.options;
  const priority = priorityOf(record);
  const { because } = endOf(record);
  return {
    id: record.id,
    key: runKey(record),
    baseUrl,
    ...(rateGroup !== undefined && { rateGroup }),
    manifest: record.manifest.name,
    state: record.state,
    ...(because !== undefined && { because }),
    ...(record.waiting !== undefined && { waiting: record.waiting }),
    rows: record.plan.rows,
    done,
    counts: outcomes,
    rowsPerSecond: progress.snapshot().rowsPerSecond,
    ...(rate !== undefined && { rate }),
    ...(priority !== usualPriority && { priority }),
    coordinator: { host: hostname(), pid: process.pid, version },
    startedAt: record.states.find(({ state }) => state === 'running')?.at ?? '',
    seenAt: new Date().toISOString(),
  };
}

/** @throws a usage error `RUN_ID_TAKEN` when the datastore has another run with this id, a busy error when that run is in progress */
async function announce(cluster: Cluster, entry: RunEntry): Promise<void> {
  await cluster.sweep(entry);
  if (await cluster.putRun(entry)) return;
  const other = await cluster.run(entry.id);
  const where = other === undefined ? '' : ` (on ${other.coordinator.host}, ${actualEntryState(other)})`;
  const what = `Another run named ${entry.id}${where} uses this datastore`;
  const remedy =
    'Give each installation its own prefix (CQBATCH_QUEUE_PREFIX), or a new run another --run-id.';
  throw other !== undefined && isActive(actualEntryState(other))
    ? new BusyError('RUN_ID_TAKEN', what, remedy)
    : usageError('RUN_ID_TAKEN', `${what}. ${remedy}`);
}

export interface ClusterStatus {
  readonly workers: number;
  /** The pace of the API. Absent without a leading worker. */
  readonly pace: PublishedPace | undefined;
  /** What keeps the run waiting: see `runAhead`. */
  readonly ahead: string | undefined;
}

export interface HeartbeatOptions {
  readonly cluster: Cluster;
  readonly entry: () => RunEntry;
  readonly onClusterStatus: (status: ClusterStatus) => void;
  readonly onError: (error: Error) => void;
}

const beatMs = 1_000;
/** The time between beats before the run's rate is in force. */
const firstBeatsMs = 200;
/** After this silence of the leading worker, no call that it permitted leaves any more. */
const silentMs = 2_500;

/** How long the last entry may take on an unreachable datastore. */
const farewellMs = 2_000;
/** After this silence, the datastore delays the run: its connections may notice much later. */
const unansweredMs = 5_000;

/**
 * The run's rate is in force when the leading worker has read its entry, and the other workers have read the decision. Without a leading
 * worker nothing is called, and the next leading worker reads the entry first.
 */
export function startHeartbeat({ cluster, entry, onClusterStatus, onError }: HeartbeatOptions) {
  let established = deferred();
  let isEstablished = false;
  let wasEstablished = false;
  /** Beats in succession in which the leading worker obeyed the limits of the run. */
  let obeyedBeats = 0;
  let answeredAt = steadyNow();

  const beat = async (): Promise<void> => {
    const own = entry();
    await cluster.putRun(own);
    const known = await cluster.pace(own);
    const pace = known !== undefined && isPresent(known, silentMs) ? known : undefined;
    obeyedBeats = pace === undefined || pace.runs.includes(own.id) ? obeyedBeats + 1 : 0;
    // Other workers read a decision later, and a decision found right after a pause may be older than the run's entry.
    const isOneEnough = pace === undefined || (pace.workers === 1 && !wasEstablished);
    if (obeyedBeats >= (isOneEnough ? 1 : 2)) {
      isEstablished = true;
      established.resolve();
    }
    const workers = await cluster.workers(own);
    const ahead = await findRunAhead(cluster, own, pace);
    answeredAt = steadyNow();
    onClusterStatus({ workers: workers.length, pace: paceSeenBy(workers, pace), ahead });
  };
  const beats = repeat(beat, { everyMs: () => (isEstablished ? beatMs : firstBeatsMs), onError });
  beats.now();

  return {
    /** Resolves when no worker exceeds the rate of all runs of the API: feed no row before. */
    established: established.promise,
    /** Promises what `established` promises, after a pause during which the run's rate was ignored. */
    establishedAgain(): Promise<void> {
      [established, wasEstablished, isEstablished, obeyedBeats] = [deferred(), isEstablished, false, 0];
      beats.now();
      return established.promise;
    },
    get silence(): string | undefined {
      return steadyNow() - answeredAt > unansweredMs ? 'the datastore does not answer' : undefined;
    },
    now: beats.now,
    async stop(): Promise<void> {
      await beats.stop();
      await cluster.putRun({ ...entry(), left: true }).catch(onError);
    },
  };
}
