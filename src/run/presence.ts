import { callRate } from '../queue/call-rate.ts';
import { commonPolicy } from '../queue/rate-policy.ts';
import {
  goneAfterMs,
  type PaceEntry,
  type Registry,
  type RunEntry,
  type WorkerEntry,
} from '../queue/registry.ts';
import { RenewalWatch, renewedAmong } from '../queue/renewal-watch.ts';
import type { RowQueue } from '../queue/row-queue.ts';
import { isActive } from './record.ts';

/** What a shared datastore tells a run about its surroundings. */
export interface Surroundings {
  /** Workers that call the API of this run, on all machines. */
  readonly workers: number;
  /** How long no worker will claim a row, in milliseconds. */
  readonly restingMs: number;
  /** How the workers are governed, if they are. */
  readonly pace?: PaceEntry;
}

export interface PresenceOptions {
  readonly registry: Registry;
  readonly rows: RowQueue;
  /** How the run is getting on. */
  readonly entry: () => RunEntry;
  readonly onSurroundings: (surroundings: Surroundings) => void;
  readonly onError: (error: Error) => void;
}

const beatMs = 1_000;
/** Until a rate is in force: soon again. */
const firstBeatsMs = 400;
/** Several times what a governor takes to renew its entry. */
const silentMs = 1_500;
/** Calls per second until a governor says more. */
const cautiousRate = 20;

/** A run that shows itself. */
export interface Presence {
  /** Resolves when a rate is in force that all runs of the same API allow together: no row may be called before. */
  readonly established: Promise<void>;
  /** Writes the entry a last time. */
  stop(): Promise<void>;
}

/**
 * Shows a run to everybody who sees the datastore, and sees to it that the rate is one that all runs of the same API
 * allow: the workers' governor keeps it once it knows of the run; where there is none, the runs do.
 */
export function startPresence(options: PresenceOptions): Presence {
  const { registry, rows } = options;
  let establish: () => void = () => {};
  const established = new Promise<void>((resolve) => {
    establish = () => {
      isEstablished = true;
      resolve();
    };
  });
  let beating: Promise<void> | undefined;
  let isEstablished = false;
  let stopped = false;
  let soon: NodeJS.Timeout | undefined;
  const watch = new RenewalWatch(silentMs);
  const presentWorkers = renewedAmong<WorkerEntry>(goneAfterMs);
  const presentRuns = renewedAmong<RunEntry>(goneAfterMs);

  /** The pace of a governor that is there. */
  const renewed = (pace: PaceEntry | undefined): PaceEntry | undefined =>
    pace !== undefined && Date.parse(pace.seenAt) !== 0 && watch.isRenewed(pace) ? pace : undefined;

  const beat = async (): Promise<void> => {
    try {
      const entry = options.entry();
      await registry.putRun(entry);
      const pace = renewed(await registry.pace(entry.baseUrl));
      if (pace === undefined)
        await rows.setRate(commonRate(presentRuns(await registry.runs()), entry.baseUrl));
      if (pace === undefined || pace.runs.includes(entry.id)) establish();
      const workers = presentWorkers(await registry.workers()).filter((w) => w.baseUrl === entry.baseUrl);
      const restingMs = await rows.restingFor();
      options.onSurroundings({
        workers: workers.length,
        restingMs,
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
      await registry.putRun(options.entry());
    },
  };
}

/** What the runs of an API allow together. A paused one counts: when it goes on, its rows are called at once. */
function commonRate(runs: readonly RunEntry[], baseUrl: string) {
  const active = runs.filter((run) => run.baseUrl === baseUrl && isActive(run.state));
  const { auto, perSecond } = commonPolicy(active.map(({ rate }) => rate));
  const allowed = auto ? Math.min(perSecond ?? cautiousRate, cautiousRate) : perSecond;
  return allowed === undefined ? undefined : callRate(allowed);
}
