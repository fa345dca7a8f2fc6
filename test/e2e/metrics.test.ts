import { readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { LogEntry } from '../../src/sandbox/request-log.ts';
import { cqbatch } from '../helpers/cqbatch.ts';
import { gaugeOf, parsePrometheusText, sumsBy } from '../helpers/prometheus-text.ts';
import { describeWithRedis } from '../helpers/redis-server.ts';
import { type Cells, newestRunFolder, readCsv, readSummary } from '../helpers/run-folder.ts';
import { startWorker } from '../helpers/worker.ts';
import { newHome } from './home.ts';
import { mixedCsv } from './manifests.ts';

const faults = ['--fault', '503=5%,reset=5%,500-after-commit=3%', '--latency', '1ms..20ms', '--seed', '7'];

const prepared = () => newHome(`${mixedCsv(200).text}restore-evaluation,none,u,,,\n`, faults);

const counted = (values: readonly string[]): Readonly<Record<string, number>> => {
  const counts: Record<string, number> = {};
  for (const value of values) counts[value] = (counts[value] ?? 0) + 1;
  return counts;
};

function expectAgreement(text: string, report: readonly Cells[], log: readonly LogEntry[]): void {
  const page = parsePrometheusText(text);
  const rows = page.get('cqbatch_rows_total')?.samples ?? [];
  const key = (cells: Cells): string => `${cells['operation']} ${cells['outcome']} ${cells['code']}`;
  expect(Object.fromEntries(rows.map(({ labels, value }) => [key(labels), value]))).toEqual(
    counted(report.map((row) => `${row['_operation']} ${row['_outcome']} ${row['_code']}`)),
  );
  expect(rows.length).toBeGreaterThan(3);
  const statuses = counted(log.map(({ status }) => String(status ?? 'none')));
  expect(sumsBy(page, 'cqbatch_requests_total', 'status')).toEqual(statuses);
  expect(Object.keys(statuses).length).toBeGreaterThan(3);
  const durations = page.get('cqbatch_request_duration_seconds')?.samples ?? [];
  const total = durations.reduce((sum, { name, value }) => (name.endsWith('_count') ? sum + value : sum), 0);
  expect(total).toBe(log.length);
}

test('the metrics file of a run matches its report and the calls that the API received', async () => {
  const { cwd, sandbox, options } = await prepared();
  const metrics = ['--metrics-file', 'run.prom', '--rate-group', 'acme', '--yes'];
  const closed = { ...options, shell: 'umask 77; exec "$@"' };
  const first = await cqbatch(['run', 'rows.csv', '--skip-invalid', ...metrics], closed);
  expect((await stat(join(cwd, 'run.prom'))).mode & 0o777).toBe(0o644);
  expect(first.code).toBe(1);
  const folder = await newestRunFolder(cwd);
  const text = await readFile(join(cwd, 'run.prom'), 'utf8');
  expectAgreement(text, await readCsv(folder, 'report.csv'), await sandbox.log());
  const families = parsePrometheusText(text);
  expect(sumsBy(families, 'cqbatch_runs_total', 'result')).toMatchObject({ rows_failed: 1, succeeded: 0 });
  expect(gaugeOf(families, 'cqbatch_last_exit_code')).toBe(1);
  expect(families.get('cqbatch_allowed_calls_in_flight')?.samples).toMatchObject([
    { labels: { rate_group: 'acme' } },
  ]);
  const { duration_s: seconds } = await readSummary(folder);
  expect(Math.round(gaugeOf(families, 'cqbatch_last_run_duration_seconds') ?? -1)).toBe(seconds);
});

describeWithRedis('machines', () => {
  test('that share a run count each row and each request once in total', async () => {
    const { cwd, sandbox, options } = await prepared();
    const workers = [await startWorker([], options), await startWorker([], options)];
    const coordinator = await startWorker(['--coordinate', '--concurrency', '0'], options);
    const submit = ['submit', 'rows.csv', '--skip-invalid', '--yes', '--run-id', 'shared'];
    expect((await cqbatch(submit, options)).code).toBe(0);
    await coordinator.says('no longer coordinating');

    const report = await readCsv(await newestRunFolder(cwd), 'report.csv');
    const [coordinated = '', ...called] = await Promise.all(
      [coordinator, ...workers].map((process) => process.metrics()),
    );
    const requests: Record<string, number> = {};
    for (const text of called) {
      const page = parsePrometheusText(text);
      expect(page.get('cqbatch_rows_total')?.samples).toEqual([]);
      for (const [status, count] of Object.entries(sumsBy(page, 'cqbatch_requests_total', 'status')))
        requests[status] = (requests[status] ?? 0) + count;
    }
    const log = await sandbox.log();
    expect(requests).toEqual(counted(log.map(({ status }) => String(status ?? 'none'))));
    const page = parsePrometheusText(coordinated);
    expect(sumsBy(page, 'cqbatch_rows_total', 'outcome')).toEqual(
      counted(report.map((row) => row['_outcome'] ?? '')),
    );
    expect(sumsBy(page, 'cqbatch_requests_total', 'status')).toEqual({});
    expect(gaugeOf(page, 'cqbatch_waiting_rows')).toBe(0);
    expect(sumsBy(page, 'cqbatch_runs_total', 'result')).toMatchObject({ rows_failed: 1 });
  });
});
