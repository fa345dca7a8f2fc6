import type { Pace } from '../../domain/pace.ts';
import { runResults } from '../../engine/run/record/ending.ts';
import type { LastRun, Metrics } from './metrics.ts';

/** Bounds of the duration of a request, in seconds: from the answer of a cache to the default time-out. */
const durationBuckets = [0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60];

export const lastRunGauges = {
  succeededAt: [
    'cqbatch_last_success_timestamp_seconds',
    'Unix time of the last run in which all rows succeeded; in a file also of a command that found its inbox empty.',
  ],
  endedAt: ['cqbatch_last_run_timestamp_seconds', 'Unix time at which the last run ended, with any result.'],
  durationSeconds: [
    'cqbatch_last_run_duration_seconds',
    'Duration of the last run, without the time between a stop and a resume.',
  ],
  exitCode: [
    'cqbatch_last_exit_code',
    'Exit code of the last command that ended; only in a file. run --or-resume that finds its run finished leaves all metrics of the last run as they are.',
  ],
} as const satisfies Record<keyof LastRun, readonly [name: string, help: string]>;

export type MetricsPages = () => Promise<{ readonly contentType: string; readonly text: string }>;

/** docs/monitoring.md is made from the names, types and help here. A scrape reads the values. */
export async function openRegistry(metrics: Metrics): Promise<MetricsPages> {
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
      name,
      help,
      labelNames,
      registers,
      collect() {
        this.reset();
        for (const [labels, value] of values()) this.inc(labels, value);
      },
    });
  }

  /** @param value returns undefined to leave the metric out */
  function gauge(name: string, help: string, value: () => number | boolean | undefined): void {
    new client.Gauge({
      name,
      help,
      registers,
      collect() {
        const now = value();
        if (now === undefined) this.remove();
        else this.set(Number(now));
      },
    });
  }

  function paceGauge(name: string, help: string, value: (pace: Pace) => number | undefined): void {
    new client.Gauge({
      name,
      help,
      labelNames: ['rate_group'],
      registers,
      collect() {
        this.reset();
        const { pace, rateGroup } = metrics;
        const now = pace && value(pace);
        if (now !== undefined) this.set(rateGroup === undefined ? {} : { rate_group: rateGroup }, now);
      },
    });
  }

  counter(
    'cqbatch_rows_total',
    'Rows with a result, as in the columns _operation, _outcome and _code of report.csv.',
    ['operation', 'outcome', 'code'],
    () => [...metrics.rows.values()].map(({ labels, rows }) => [labels, rows] as const),
  );
  gauge(
    'cqbatch_waiting_rows',
    'Rows without a result in runs in progress; in a file also of a run that stopped and can be resumed.',
    () => (options.runs ? metrics.waitingRows : undefined),
  );
  counter('cqbatch_runs_total', `Ended runs, by result: ${runResults.join(', ')}.`, ['result'], () =>
    options.runs ? runResults.map((result) => [{ result }, metrics.runs.get(result) ?? 0] as const) : [],
  );
  for (const [key, [name, help]] of Object.entries(lastRunGauges))
    gauge(name, help, () => metrics.last[key as keyof LastRun]);

  counter(
    'cqbatch_requests_total',
    'HTTP requests to the API, by status; none without an answer.',
    ['status'],
    () => [...metrics.requests].map(([status, requests]) => [{ status }, requests] as const),
  );
  const durations = new client.Histogram({
    name: 'cqbatch_request_duration_seconds',
    help: 'Duration of HTTP requests to the API, from the wait for a connection to the end of the answer.',
    buckets: durationBuckets,
    registers,
  });
  gauge('cqbatch_requests_in_flight', 'HTTP requests to the API in flight.', () => metrics.inFlight);
  paceGauge(
    'cqbatch_allowed_rate_calls_per_second',
    'Calls per second allowed for all workers of the API together; absent when unlimited.',
    ({ rate }) => rate,
  );
  paceGauge(
    'cqbatch_estimated_limit_calls_per_second',
    'Calls per second that the API is found to permit; absent while unknown.',
    ({ limit }) => limit,
  );
  paceGauge(
    'cqbatch_allowed_calls_in_flight',
    'Calls in flight allowed for all workers of the API together.',
    ({ concurrency }) => concurrency,
  );
  gauge('cqbatch_ready', '1 if /readyz answers 200, else 0.', () => metrics.ready());
  new client.Gauge({
    name: 'cqbatch_build_info',
    help: 'Always 1. The labels name the running versions.',
    labelNames: ['version', 'node'],
    registers,
  }).set({ version: options.version, node: process.version }, 1);

  metrics.onRequest = (seconds) => durations.observe(seconds);
  return async () => ({ contentType: registry.contentType, text: await registry.metrics() });
}
