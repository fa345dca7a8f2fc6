import type { Cluster } from '../cluster/cluster.ts';
import { isPresent, type PublishedPace, type RunEntry } from '../cluster/entries.ts';
import { repeat } from '../repeat.ts';
import { deferred } from '../waiting.ts';

/** What a shared datastore tells a run of the workers that call for it. */
export interface ClusterStatus {
  /** Workers that call the API of this run, on all machines. */
  readonly workers: number;
  /** How the API is called, if somebody leads its workers. */
  readonly pace?: PublishedPace;
}

export interface HeartbeatOptions {
  readonly cluster: Cluster;
  /** How the run is getting on. */
  readonly entry: () => RunEntry;
  readonly onClusterStatus: (status: ClusterStatus) => void;
  readonly onError: (error: Error) => void;
}

const beatMs = 1_000;
/** Until the run's rate is in force: soon again. */
const firstBeatsMs = 200;
/** What a worker that leads had permitted has ended by then. */
const silentMs = 2_500;

/** A run that shows itself. */
export interface Heartbeat {
  /** Resolves when no worker calls faster than all runs of the same API allow together: no row may be fed before. */
  readonly established: Promise<void>;
  /** Writes the entry a last time. */
  stop(): Promise<void>;
}

/**
 * Shows a run to everybody who sees the datastore. Its rate is in force when the worker that leads has heard of the run,
 * and the others of its decision. Without one that leads nothing can be called, and the next one hears of the run first.
 */
export function startHeartbeat({ cluster, entry, onClusterStatus, onError }: HeartbeatOptions): Heartbeat {
  const established = deferred();
  let isEstablished = false;
  let isHeardOf = false;

  const beat = async (): Promise<void> => {
    const own = entry();
    await cluster.putRun(own);
    const known = await cluster.pace(own.baseUrl);
    const pace = known !== undefined && isPresent(known, silentMs) ? known : undefined;
    const includesRun = pace?.runs.includes(own.id) ?? true;
    if (includesRun && (isHeardOf || (pace?.workers ?? 1) === 1)) {
      isEstablished = true;
      established.resolve();
    }
    isHeardOf = includesRun;
    const workers = (await cluster.workers(own.baseUrl)).filter((worker) => isPresent(worker));
    onClusterStatus({ workers: workers.length, ...(pace !== undefined && { pace }) });
  };
  const beats = repeat(beat, { everyMs: () => (isEstablished ? beatMs : firstBeatsMs), onError });
  beats.now();

  return {
    established: established.promise,
    async stop() {
      await beats.stop();
      await cluster.putRun(entry());
    },
  };
}
