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

/**
 * Shows a run to everybody who sees the datastore, and keeps the rate that all runs of the same API allow together.
 * Ends with `stop`, which writes the entry a last time.
 */
export function startPresence(options: PresenceOptions): { stop(): Promise<void> } {
  const { registry, rows } = options;
  let rate: CallRate | undefined | 'unknown' = 'unknown';
  let beating: Promise<void> | undefined;

  const beat = async (): Promise<void> => {
    try {
      const entry = options.entry();
      await registry.putRun(entry);
      const present = (await registry.runs()).filter(
        (run) => run.baseUrl === entry.baseUrl && isPresent(run),
      );
      const wanted = slowestRate(present);
      if (rate === 'unknown' || rate?.calls !== wanted?.calls || rate?.perMs !== wanted?.perMs) {
        await rows.setRate(wanted);
        rate = wanted;
      }
      const workers = (await registry.workers()).filter((w) => w.baseUrl === entry.baseUrl && isPresent(w));
      options.onSurroundings({ workers: workers.length, restingMs: await rows.restingFor() });
    } catch (error) {
      options.onError(error as Error);
    }
  };
  const timer = setInterval(() => {
    beating ??= beat().finally(() => {
      beating = undefined;
    });
  }, beatMs);
  timer.unref();

  return {
    async stop() {
      clearInterval(timer);
      await beating;
      await registry.putRun(options.entry());
    },
  };
}

/** Several runs share one API: the strictest of them says how fast it is called. */
export function slowestRate(runs: readonly Pick<RunEntry, 'state' | 'rate'>[]): CallRate | undefined {
  const rates = runs.flatMap(({ state, rate }) => (state === 'running' && rate !== undefined ? [rate] : []));
  const slowest = rates.sort((a, b) => a.calls / a.perMs - b.calls / b.perMs)[0];
  return slowest === undefined ? undefined : { calls: slowest.calls, perMs: slowest.perMs };
}
