import type { Registry, RunEntry } from '../queue/registry.ts';
import { isPresent } from '../queue/registry.ts';
import type { CallRate, RowQueue } from '../queue/row-queue.ts';

/** What a shared datastore tells a run about its surroundings. */
export interface Surroundings {
  /** Workers that call the API of this run, on all machines. */
  readonly workers: number;
  /** How long no worker will claim a row, in milliseconds. */
  readonly restingMs: number;
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

/** A run that shows itself. */
export interface Presence {
  /** Resolves when the rate is in force that all runs of the same API allow together: no row may be called before. */
  readonly established: Promise<void>;
  /** Writes the entry a last time. */
  stop(): Promise<void>;
}

/**
 * Shows a run to everybody who sees the datastore, and keeps the rate that all runs of the same API allow together.
 */
export function startPresence(options: PresenceOptions): Presence {
  const { registry, rows } = options;
  let establish: () => void = () => {};
  const established = new Promise<void>((resolve) => {
    establish = resolve;
  });
  let beating: Promise<void> | undefined;

  const beat = async (): Promise<void> => {
    try {
      const entry = options.entry();
      await registry.putRun(entry);
      const present = (await registry.runs()).filter(
        (run) => run.baseUrl === entry.baseUrl && isPresent(run),
      );
      // Every time: a Redis that has lost its data has lost the limit, too.
      await rows.setRate(slowestRate(present));
      establish();
      const workers = (await registry.workers()).filter((w) => w.baseUrl === entry.baseUrl && isPresent(w));
      options.onSurroundings({ workers: workers.length, restingMs: await rows.restingFor() });
    } catch (error) {
      options.onError(error as Error);
    }
  };
  const beatOnce = (): void => {
    beating ??= beat().finally(() => {
      beating = undefined;
    });
  };
  const timer = setInterval(beatOnce, beatMs);
  timer.unref();
  beatOnce();

  return {
    established,
    async stop() {
      clearInterval(timer);
      await beating;
      await registry.putRun(options.entry());
    },
  };
}

/**
 * Several runs share one API: the strictest of them says how fast it is called. A paused one counts: when it goes on,
 * its rows are called at once.
 */
export function slowestRate(runs: readonly Pick<RunEntry, 'state' | 'rate'>[]): CallRate | undefined {
  const rates = runs.flatMap(({ state, rate }) =>
    ['running', 'paused'].includes(state) && rate !== undefined ? [rate] : [],
  );
  const slowest = rates.sort((a, b) => a.calls / a.perMs - b.calls / b.perMs)[0];
  return slowest === undefined ? undefined : { calls: slowest.calls, perMs: slowest.perMs };
}
