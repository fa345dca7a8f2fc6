import { runResults } from '../run/record/ending.ts';
import type { LastRun, Metrics } from './metrics.ts';

/** Of an API that changes things: from a cache's answer to the default time-out, and what is longer. */
const durationBuckets = [0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60];

/** The metrics that outlive a process: name and help of each. */
export const lastRunGauges = {
  succeededAt: ['cqbatch_last_success_timestamp_seconds', 'When a run last succeeded with all rows.'],
  endedAt: ['cqbatch_last_run_timestamp_seconds', 'When the last run ended, however.'],
  durationSeconds: ['cqbatch_last_run_duration_seconds', 'How long the last run was at work.'],
  exitCode: ['cqbatch_last_exit_code', 'Exit code of the last command that wrote this file.'],
} as const satisfies Record<keyof LastRun, readonly [name: string, help: string]>;

/** Writes all of them, as Prometheus reads it. */
export type MetricsPages = () => Promise<{ readonly contentType: string; readonly text: string }>;

/** Names, types and help of the metrics. Each takes its value when a scrape asks; docs/monitoring.md lists them. */
export async function openRegistry(metrics: Metrics): Promise<MetricsPages> {
  // Most commands do without.
  const client = await import('prom-client');
  const registry = new client.Registry();
  const { options } = metrics;
  registry.setDefaultLabels(options.labels ?? {});
  const registers = [registry];

  function counter(
    name: string,
    help: string,
    labelNames: readonly string[],
    values: () => Iterable<readonly [labels: Record<string, string>, value: number]>,
  ): void {
    new client.Counter({
      ...{ name, help, labelNames, registers },
      collect() {
        this.reset();
        for (const [labels, value] of values()) this.inc(labels, value);
      },
    });
  }

  /** @param value undefined leaves it out */
  function gauge(name: string, help: string, value: () => number | boolean | undefined): void {
    new client.Gauge({
      ...{ name, help, registers },
      collect() {
        const now = value();
        if (now === undefined) this.remove();
        else this.set(Number(now));
      },
    });
  }

  counter('cqbatch_rows_total', 'Rows that got their results.', ['operation', 'outcome', 'code'], () =>
    [...metrics.rows.values()].map(({ labels, rows }) => [labels, rows] as const),
  );
  gauge('cqbatch_waiting_rows', 'Rows without a result, of the runs that are going.', () =>
    options.runs ? metrics.waitingRows : undefined,
  );
  counter('cqbatch_runs_total', 'Runs that came to an end, by how.', ['result'], () =>
    options.runs ? runResults.map((result) => [{ result }, metrics.runs.get(result) ?? 0] as const) : [],
  );
  for (const [key, [name, help]] of Object.entries(lastRunGauges))
    gauge(name, help, () => metrics.last[key as keyof LastRun]);

  counter('cqbatch_requests_total', 'HTTP requests to the API, by status of the answer.', ['status'], () =>
    [...metrics.requests].map(([status, requests]) => [{ status }, requests] as const),
  );
  const durations = new client.Histogram({
    name: 'cqbatch_request_duration_seconds',
    help: 'How long HTTP requests to the API took.',
    buckets: durationBuckets,
    registers,
  });
  gauge('cqbatch_requests_in_flight', 'HTTP requests to the API that are under way.', () => metrics.inFlight);
  gauge(
    'cqbatch_allowed_rate_calls_per_second',
    'Calls that all workers of the API together may make; absent: as many as can be.',
    () => metrics.pace?.rate,
  );
  gauge(
    'cqbatch_estimated_limit_calls_per_second',
    'What the API is found to permit; absent while that is not known.',
    () => metrics.pace?.limit,
  );
  gauge(
    'cqbatch_allowed_calls_in_flight',
    'Calls in flight that all workers of the API together may have.',
    () => metrics.pace?.concurrency,
  );
  gauge('cqbatch_ready', 'Whether it takes rows: what /readyz says.', () => metrics.ready());
  new client.Gauge({
    name: 'cqbatch_build_info',
    help: 'Always 1; the labels say what is running.',
    labelNames: ['version', 'node'],
    registers,
  }).set({ version: options.version, node: process.version }, 1);

  metrics.onRequest = (seconds) => durations.observe(seconds);
  return async () => ({ contentType: registry.contentType, text: await registry.metrics() });
}
