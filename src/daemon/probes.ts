import type { Defer } from '../base/async/scope.ts';
import { readVersion } from '../base/package.ts';
import type { Operation } from '../engine/operation/operation.ts';
import type { RunStore } from '../engine/run/record/store.ts';
import { defaults, type Settings } from '../settings/settings.ts';
import { type HealthState, startHealthServer } from './health.ts';
import type { Metrics } from './metrics/metrics.ts';
import { openDaemonMetrics } from './metrics/metrics-file.ts';

interface ProbesOptions {
  readonly settings: Settings;
  readonly operations: readonly Operation[];
  readonly store?: RunStore | undefined;
  readonly state: () => HealthState;
  /** Gets the error of a metrics file that can't be written. */
  readonly onError: (error: Error) => void;
}

/**
 * Serves `--health-port` and writes `--metrics-file`, as configured. Returns the counters, if they are visible, and the port, if served.
 *
 * @throws a usage error when the port can't be used
 */
export async function openProbes(
  { settings, operations, store, state, onError }: ProbesOptions,
  defer: Defer,
): Promise<{ readonly metrics?: Metrics; readonly port?: number }> {
  const {
    healthPort,
    healthHost: host = defaults.healthHost,
    healthName: names,
    metricsFile: file,
  } = settings;
  if (healthPort === undefined && file === undefined) return {};
  const { metrics, page, close } = await openDaemonMetrics({
    version: readVersion(),
    operations,
    store,
    file,
    onError,
  });
  defer(close);
  metrics.ready = () => state().ready;
  if (healthPort === undefined) return { metrics };
  const health = await startHealthServer({ host, names, port: healthPort, state, metrics: page });
  defer(() => health.close());
  return { metrics, port: health.port };
}
