import type { Cluster } from '../cluster/cluster.ts';
import { isPresent, type PaceEntry, type RunEntry } from '../cluster/entries.ts';

/** What a shared datastore tells a run of the workers that call for it. */
export interface ClusterStatus {
  /** Workers that call the API of this run, on all machines. */
  readonly workers: number;
  /** How long no call is made because the API asked for it, in milliseconds. */
  readonly restingMs: number;
  /** How the API is called, if somebody leads its workers. */
  readonly pace?: PaceEntry;
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
export function startHeartbeat(options: HeartbeatOptions): Heartbeat {
  const { cluster } = options;
  let establish: () => void = () => {};
  const established = new Promise<void>((resolve) => {
    establish = () => {
      isEstablished = true;
      resolve();
    };
  });
  let beating: Promise<void> | undefined;
  let isEstablished = false;
  let isHeardOf = false;
  let stopped = false;
  let soon: NodeJS.Timeout | undefined;

  const beat = async (): Promise<void> => {
    try {
      const entry = options.entry();
      await cluster.putRun(entry);
      const known = await cluster.pace(entry.baseUrl);
      const pace = known !== undefined && isPresent(known, silentMs) ? known : undefined;
      const includesRun = pace?.runs.includes(entry.id) ?? true;
      if (includesRun && (isHeardOf || (pace?.workers ?? 1) === 1)) establish();
      isHeardOf = includesRun;
      const workers = (await cluster.workers(entry.baseUrl)).filter((worker) => isPresent(worker));
      const restingMs = pace === undefined ? 0 : pace.restMs - (Date.now() - Date.parse(pace.seenAt));
      options.onClusterStatus({
        workers: workers.length,
        restingMs: Math.max(0, restingMs),
        ...(pace !== undefined && { pace }),
      });
    } catch (error) {
      options.onError(error as Error);
    }
  };
  const beatOnce = (): void => {
    beating ??= beat().finally(() => {
      beating = undefined;
      if (isEstablished || stopped) return;
      clearTimeout(soon);
      soon = setTimeout(beatOnce, firstBeatsMs);
      soon.unref();
    });
  };
  const timer = setInterval(beatOnce, beatMs);
  timer.unref();
  beatOnce();

  return {
    established,
    async stop() {
      stopped = true;
      clearInterval(timer);
      clearTimeout(soon);
      await beating;
      await cluster.putRun(options.entry());
    },
  };
}
