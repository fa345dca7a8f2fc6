import type { PublishedPace, RunEntry, WorkerEntry } from '../../src/engine/cluster/entries.ts';

/** The API of all entries, unless a test sets another. */
export const api = 'https://api.example.com';

/** A time in the past, in the form of entries. */
export function ago(milliseconds: number): string {
  return new Date(Date.now() - milliseconds).toISOString();
}

/** A run that has just started. */
export function runEntry(changes: Partial<RunEntry> = {}): RunEntry {
  return {
    id: 'run',
    key: 'run',
    baseUrl: api,
    manifest: 'rows.csv',
    state: 'running',
    rows: 10,
    counts: { succeeded: 0, failed: 0, invalid: 0, duplicate: 0, skipped: 0, not_attempted: 0, pending: 0 },
    rowsPerSecond: 0,
    coordinator: { host: 'here', pid: 1 },
    startedAt: ago(0),
    seenAt: ago(0),
    ...changes,
  };
}

/** A worker that has just started, and has no governor. */
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
    startedAt: ago(0),
    seenAt: ago(0),
    ...changes,
  };
}

/** What the leading worker has decided just now, for one run. */
export function publishedPace(changes: Partial<PublishedPace> = {}): PublishedPace {
  return {
    runs: ['run'],
    workers: 1,
    rate: 40,
    isKept: true,
    concurrency: 20,
    refuses503: false,
    phase: 'holding',
    reason: 'just under the limit',
    accepted: 3,
    rejected: 0,
    seenAt: ago(0),
    ...changes,
  };
}
