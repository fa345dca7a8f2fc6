import { readdir, readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { operations } from '../../../jobs/index.ts';
import { openDaemonMetrics, openMetricsFile } from '../../../src/daemon/metrics/metrics-file.ts';
import { gaugeOf, parsePrometheusText } from '../../helpers/prometheus-text.ts';
import { temporaryFolder } from '../../helpers/temporary-folder.ts';

const options = { version: '1.2.3', operations, runs: true, isOneCommand: true };

async function prepared() {
  const folder = await temporaryFolder();
  const path = join(folder, 'nightly.prom');
  const errors: Error[] = [];
  return {
    folder,
    path,
    errors,
    open: (now: number) =>
      openMetricsFile(path, { ...options, now: () => now * 1_000 }, (error) => errors.push(error)),
    read: async () => parsePrometheusText(await readFile(path, 'utf8')),
  };
}

test('a metrics file exists at once, complete, readable by all users, without temporary files', async () => {
  const { folder, path, open, read } = await prepared();
  const file = await open(1_000);
  expect(gaugeOf(await read(), 'cqbatch_waiting_rows')).toBe(0);
  expect((await stat(path)).mode & 0o777).toBe(0o644);
  await file.close();
  expect(await readdir(folder)).toEqual(['nightly.prom']);
  // Its series differ from those of another file of the same machine.
  const samples = [...(await read()).values()].flatMap((family) => family.samples);
  expect(new Set(samples.map(({ labels }) => labels['file']))).toEqual(new Set(['nightly']));
});

test('the last success outlives failed and killed commands', async () => {
  const { open, read } = await prepared();
  const first = await open(1_000);
  first.metrics.runStarted(() => 0).runEnded({ result: 'succeeded', durationMs: 60_000 });
  first.metrics.commandEnding(0);
  await first.close();

  const second = await open(2_000);
  second.metrics.runStarted(() => 3).runEnded({ result: 'halted', durationMs: 5_000 });
  second.metrics.commandEnding(3);
  await second.close();
  const after = await read();
  expect(gaugeOf(after, 'cqbatch_last_success_timestamp_seconds')).toBe(1_000);
  expect(gaugeOf(after, 'cqbatch_last_run_timestamp_seconds')).toBe(2_000);
  expect(gaugeOf(after, 'cqbatch_last_run_duration_seconds')).toBe(5);
  expect(gaugeOf(after, 'cqbatch_last_exit_code')).toBe(3);

  const again = await open(2_500);
  again.metrics.foundFinishedRun();
  again.metrics.commandEnding(0);
  await again.close();
  expect(gaugeOf(await read(), 'cqbatch_last_exit_code')).toBe(3);
  expect(gaugeOf(await read(), 'cqbatch_last_success_timestamp_seconds')).toBe(1_000);

  const killed = await open(3_000);
  expect(gaugeOf(await read(), 'cqbatch_last_success_timestamp_seconds')).toBe(1_000);
  await killed.close();
});

test('of two processes with one file, the first holds it, and the other reports that until it is free', async () => {
  const { folder, errors, open, read } = await prepared();
  const first = await open(1_000);
  const second = await open(2_000);
  expect(errors.map(({ message }) => message)).toEqual([
    expect.stringMatching(/nightly\.prom is in use by this process .*Give each command its own file/),
  ]);
  for (const { metrics } of [first, second]) metrics.runStarted(() => 0).runEnded({ result: 'succeeded' });
  await first.close();
  expect(gaugeOf(await read(), 'cqbatch_last_run_timestamp_seconds')).toBe(1_000);
  await second.close();
  expect(gaugeOf(await read(), 'cqbatch_last_run_timestamp_seconds')).toBe(2_000);
  expect(errors).toHaveLength(1);
  expect(await readdir(folder)).toEqual(['nightly.prom']);
});

test('a failed write is reported once', async () => {
  const folder = await temporaryFolder();
  const errors: Error[] = [];
  const path = join(folder, 'missing', 'nightly.prom');
  const file = await openMetricsFile(path, options, (error) => errors.push(error));
  await file.close();
  expect(errors.map(({ message }) => message)).toEqual([expect.stringContaining(join(folder, 'missing'))]);
});

test('a daemon reads the last success from its runs', async () => {
  const ended = (at: string, failed: number) => ({
    state: 'completed',
    states: [
      { state: 'running', at: '2026-01-01T00:00:00Z', atWorkMs: 4_000 },
      { state: 'completed', at },
    ],
    counts: { succeeded: 1, failed, invalid: 0, duplicate: 0, skipped: 0, not_attempted: 0, pending: 0 },
  });
  const records = [ended('2026-01-04T00:00:00Z', 1), ended('2026-01-03T00:00:00Z', 0)];
  const store = { list: async () => records as never };
  const { metrics } = await openDaemonMetrics({ version: '1', operations, store, onError: () => {} });
  expect(metrics.last).toEqual({
    succeededAt: Date.parse('2026-01-03') / 1_000,
    endedAt: Date.parse('2026-01-04') / 1_000,
    durationSeconds: 4,
  });
});
