import type { RunEntry, TrafficReport, WorkerEntry } from '../../src/cluster/entries.ts';

/** The API of all entries, unless a test sets another. */
export const api = 'https://api.example.com';

/** A time in the past, in the form of entries. */
export function ago(milliseconds: number): string {
  return new Date(Date.now() - milliseconds).toISOString();
}

/** Of a worker that has called nothing. */
export const noTraffic: TrafficReport = {
  accepted: 0,
  rejected: 0,
  unavailable: 0,
  durationMs: 0,
  active: 0,
  stated: [],
};

/** A run that has just started. */
export function runEntry(changes: Partial<RunEntry> = {}): RunEntry {
  return {
    id: 'run',
    key: 'run',
    baseUrl: api,
    manifest: 'rows.csv',
    state: 'running',
    rows: 10,
    done: 0,
    counts: { succeeded: 0, failed: 0, invalid: 0, duplicate: 0, skipped: 0, not_attempted: 0 },
    rowsPerSecond: 0,
    coordinator: { host: 'here', pid: 1 },
    startedAt: ago(0),
    seenAt: ago(0),
    ...changes,
  };
}

/** A worker that has just started. */
export function workerEntry(changes: Partial<WorkerEntry> = {}): WorkerEntry {
  return {
    id: 'worker',
    host: 'here',
    pid: 2,
    version: '1',
    baseUrl: api,
    concurrency: 1,
    active: 0,
    finished: 0,
    traffic: noTraffic,
    startedAt: ago(0),
    seenAt: ago(0),
    ...changes,
  };
}
