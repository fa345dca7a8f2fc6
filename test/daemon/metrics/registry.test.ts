import { expect, test } from 'vitest';
import { operations } from '../../../jobs/index.ts';
import { Metrics, type MetricsOptions } from '../../../src/daemon/metrics/metrics.ts';
import { openRegistry } from '../../../src/daemon/metrics/registry.ts';
import type { Pace } from '../../../src/domain/pace.ts';
import { gaugeOf, parsePrometheusText, sumsBy } from '../../helpers/prometheus-text.ts';

async function measured(options: Partial<MetricsOptions> = {}) {
  const now = () => 1_800_000_000_000;
  const metrics = new Metrics({ version: '1.2.3', operations, runs: true, now, ...options });
  const page = await openRegistry(metrics);
  return { metrics, read: async () => parsePrometheusText((await page()).text) };
}

const more = { isKept: true, phase: 'holding', refuses503: false, reason: '' } as const;
const pace: Pace = { rate: 12.5, concurrency: 8, ...more };
const ok = { operation: 'restore-evaluation', outcome: 'succeeded', code: 'OK' } as const;

test('two scrapes count rows and requests once', async () => {
  const { metrics, read } = await measured();
  metrics.rowsFinished([ok, ok, { ...ok, outcome: 'failed', code: 'A "quoted" \\ code\n' }]);
  const observer = metrics.observeRequests();
  for (const status of [200, 200, undefined, 503]) {
    observer.started();
    observer.ended({ status, durationMs: 70_000 });
  }
  observer.started();
  observer.ended();
  observer.started();
  for (let times = 0; times < 2; times++) {
    const families = await read();
    expect(sumsBy(families, 'cqbatch_rows_total', 'outcome')).toEqual({ succeeded: 2, failed: 1 });
    expect(sumsBy(families, 'cqbatch_rows_total', 'code')).toEqual({ OK: 2, other: 1 });
    expect(sumsBy(families, 'cqbatch_requests_total', 'status')).toEqual({ 200: 2, 503: 1, none: 1 });
    expect(gaugeOf(families, 'cqbatch_requests_in_flight')).toBe(1);
    const durations = families.get('cqbatch_request_duration_seconds')?.samples ?? [];
    expect(durations.find(({ labels }) => labels['le'] === '60')?.value).toBe(0);
    expect(durations.find(({ name }) => name.endsWith('_sum'))?.value).toBe(280);
  }
});

test('unknown values are left out', async () => {
  const { metrics, read } = await measured({ runs: false });
  metrics.paceOfWorker = () => pace;
  metrics.ready = () => false;
  const after = await read();
  expect(gaugeOf(after, 'cqbatch_allowed_rate_calls_per_second')).toBe(12.5);
  expect(gaugeOf(after, 'cqbatch_estimated_limit_calls_per_second')).toBeUndefined();
  expect(gaugeOf(after, 'cqbatch_allowed_calls_in_flight')).toBe(8);
  expect(gaugeOf(after, 'cqbatch_ready')).toBe(0);
  metrics.paceOfWorker = () => undefined;
  expect(gaugeOf(await read(), 'cqbatch_allowed_rate_calls_per_second')).toBeUndefined();
});

test('the pace of a worker has the label of its rate group', async () => {
  const { metrics, read } = await measured();
  metrics.rateGroup = 'acme';
  metrics.paceOfWorker = () => pace;
  const rates = (await read()).get('cqbatch_allowed_rate_calls_per_second')?.samples;
  expect(rates).toMatchObject([{ labels: { rate_group: 'acme' }, value: 12.5 }]);
});

test('rows wait while their run is in progress here', async () => {
  const { metrics, read } = await measured();
  const first = metrics.runStarted(() => 5);
  const second = metrics.runStarted(() => 7);
  expect(gaugeOf(await read(), 'cqbatch_waiting_rows')).toBe(12);
  metrics.paceOfRun = () => pace;
  first.runEnded();
  expect(gaugeOf(await read(), 'cqbatch_allowed_calls_in_flight')).toBe(8);
  second.runEnded({ result: 'halted', durationMs: 1_500 });
  const families = await read();
  expect(gaugeOf(families, 'cqbatch_waiting_rows')).toBe(0);
  expect(gaugeOf(families, 'cqbatch_allowed_calls_in_flight')).toBeUndefined();
  expect(sumsBy(families, 'cqbatch_runs_total', 'result')).toMatchObject({ halted: 1, succeeded: 0 });
  expect(gaugeOf(families, 'cqbatch_last_run_duration_seconds')).toBe(1.5);
  expect(gaugeOf(families, 'cqbatch_last_run_timestamp_seconds')).toBe(1_800_000_000);
  expect(gaugeOf(families, 'cqbatch_last_success_timestamp_seconds')).toBeUndefined();
});

test('the rows of a command wait also after its run has halted', async () => {
  const { metrics, read } = await measured({ isOneCommand: true });
  metrics.runStarted(() => 5).runEnded({ result: 'halted' });
  metrics.commandEnding(3);
  expect(gaugeOf(await read(), 'cqbatch_waiting_rows')).toBe(5);
  metrics.runStarted(() => 4).runEnded({ result: 'cancelled' });
  metrics.runStarted(() => 2).runEnded({ result: 'spent' });
  expect(gaugeOf(await read(), 'cqbatch_waiting_rows')).toBe(7);
});

test('a run with a failed row is no success', async () => {
  const { metrics, read } = await measured();
  metrics.runStarted(() => 0).runEnded({ result: 'rows_failed' });
  metrics.commandEnding(1);
  expect(gaugeOf(await read(), 'cqbatch_last_success_timestamp_seconds')).toBeUndefined();
  metrics.commandEnding(0);
  const families = await read();
  expect(gaugeOf(families, 'cqbatch_last_success_timestamp_seconds')).toBe(1_800_000_000);
  expect(gaugeOf(families, 'cqbatch_last_exit_code')).toBe(0);
});
