import {
  defaults,
  type HealthState,
  type Metrics,
  type Operation,
  openDaemonMetrics,
  type RunStore,
  type Settings,
  startHealthServer,
} from '../../../index.ts';
import { readVersion } from '../../../package.ts';
import type { AtEnd } from '../../../releases.ts';

export interface ProbesOptions {
  readonly settings: Settings;
  readonly operations: readonly Operation[];
  /** The runs that it works on; undefined where it works on none. */
  readonly store?: RunStore | undefined;
  /** Asked at each probe. */
  readonly state: () => HealthState;
  /** Called when the file of the metrics can't be written. */
  readonly onError: (error: Error) => void;
}

/** What others can ask of a process that goes on until it is stopped. */
export interface Probes {
  /** What it counts; undefined where nobody can see it. */
  readonly metrics: Metrics | undefined;
  /** Where it answers, if it does. */
  readonly port: number | undefined;
}

/**
 * Answers supervisors and Prometheus on `--health-port`, and keeps `--metrics-file`, as far as the user wants them.
 *
 * @throws a usage error when the port can't be used.
 */
export async function openProbes(
  { settings, operations, store, state, onError }: ProbesOptions,
  atEnd: AtEnd,
): Promise<Probes> {
  const { healthPort, healthHost: host = defaults.healthHost, metricsFile: file } = settings;
  if (healthPort === undefined && file === undefined) return { metrics: undefined, port: undefined };
  const { metrics, page, close } = await openDaemonMetrics({
    version: readVersion(),
    operations,
    store,
    file,
    onError,
  });
  atEnd(close);
  metrics.ready = () => state().ready;
  if (healthPort === undefined) return { metrics, port: undefined };
  const health = await startHealthServer({ host, port: healthPort, state, metrics: page });
  atEnd(() => health.close());
  return { metrics, port: health.port };
}
