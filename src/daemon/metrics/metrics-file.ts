import { basename } from 'node:path';
import { repeat } from '../../base/async/repeat.ts';
import { writeFileAtomically } from '../../base/disk/files.ts';
import { lockPath, type ProcessLock } from '../../base/disk/lock.ts';
import { readSmallFile } from '../../base/disk/open-file.ts';
import { resultOf } from '../../engine/run/record/ending.ts';
import { activeTime } from '../../engine/run/record/record-keeper.ts';
import type { RunStore } from '../../engine/run/record/store.ts';
import { type LastRun, Metrics, type MetricsOptions } from './metrics.ts';
import { lastRunGauges, type MetricsPages, openRegistry } from './registry.ts';

/** The time between two writes: Prometheus rarely scrapes more often. */
const everyMs = 15_000;
/** The mode of the file: node_exporter runs as another user. */
const readableByAll = 0o644;

export interface OpenMetrics {
  readonly metrics: Metrics;
  readonly page: MetricsPages;
  /** Writes the file, if there is one, a last time. */
  close(): Promise<void>;
}

/**
 * Writes a file for node_exporter's textfile collector at the start, every 15 seconds, and at the end. The file keeps the metrics of the
 * last run of an earlier process. While another process holds it, nothing is written.
 *
 * @param onError called once for each series of failed writes
 */
export async function openMetricsFile(
  path: string,
  options: MetricsOptions,
  onError: (error: Error) => void,
): Promise<OpenMetrics> {
  // The collector rejects two files with the same series.
  const labels = { ...options.labels, file: basename(path, '.prom') };
  const metrics = new Metrics({ ...options, labels });
  const page = await openRegistry(metrics);
  metrics.last = await readLastRun(path);
  let hasFailed = false;
  let lock: ProcessLock | undefined;
  const write = async (): Promise<void> => {
    try {
      lock ??= await lockPath({ path, purpose: 'metrics', taken: (who) => takenError(path, who) });
      await writeFileAtomically(path, (await page()).text, readableByAll);
      hasFailed = false;
    } catch (error) {
      if (!hasFailed) onError(error as Error);
      hasFailed = true;
    }
  };
  await write();
  const writes = repeat(write, { everyMs });
  return {
    metrics,
    page,
    async close() {
      await writes.stop();
      await write();
      await lock?.release();
    },
  };
}

function takenError(path: string, who: string): Error {
  return new Error(
    `${path} is in use by ${who}. Give each command its own file, such as cqbatch-weekly.prom.`,
  );
}

export interface DaemonMetricsOptions extends Pick<MetricsOptions, 'version' | 'operations'> {
  /** The runs of the state folder. Undefined for a process without runs. */
  readonly store?: Pick<RunStore, 'list'> | undefined;
  readonly file?: string | undefined;
  readonly onError: (error: Error) => void;
}

/** The last run is that of the state folder or the file. */
export async function openDaemonMetrics({
  version,
  operations,
  store,
  file,
  onError,
}: DaemonMetricsOptions): Promise<OpenMetrics> {
  const options = { version, operations, runs: store !== undefined };
  const lastRun = store && (await lastRunIn(store));
  if (file !== undefined) {
    const opened = await openMetricsFile(file, options, onError);
    opened.metrics.last = { ...opened.metrics.last, ...lastRun };
    return opened;
  }
  const metrics = new Metrics(options);
  metrics.last = { ...lastRun };
  return { metrics, page: await openRegistry(metrics), close: async () => {} };
}

async function readLastRun(path: string): Promise<LastRun> {
  const text = await readSmallFile(path).catch(() => '');
  const values = Object.entries(lastRunGauges).map(([key, [name]]) => {
    const line = new RegExp(`^${name}(?:\\{[^}]*\\})? (\\S+)$`, 'm').exec(text);
    return [key, Number(line?.[1])] as const;
  });
  return Object.fromEntries(values.filter(([, value]) => Number.isFinite(value)));
}

/** The last run, so that a restarted daemon knows the last success. */
async function lastRunIn(store: Pick<RunStore, 'list'>): Promise<LastRun> {
  let last: LastRun = {};
  for (const record of await store.list(() => {})) {
    const { state, states, counts } = record;
    if (counts === undefined || !['completed', 'halted', 'cancelled', 'interrupted'].includes(state))
      continue;
    const at = Date.parse(states.at(-1)?.at ?? '') / 1_000;
    const hasSucceeded = resultOf({ state }, counts) === 'succeeded';
    if (hasSucceeded && at > (last.succeededAt ?? 0)) last = { ...last, succeededAt: at };
    if (at > (last.endedAt ?? 0))
      last = { ...last, endedAt: at, durationSeconds: activeTime(record, undefined) / 1_000 };
  }
  return last;
}
