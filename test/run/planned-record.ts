import type { RunOptions, RunRecord } from '../../src/run/record/record.ts';

/** The smallest set of options for a run. */
export const leastOptions: RunOptions = {
  baseUrl: 'http://127.0.0.1/',
  clearToken: '<clear>',
  concurrency: 1,
  attempts: 1,
  timeoutMs: 1,
  backoffMs: 1,
};

/** A planned run of one row. */
export const plannedRecord: RunRecord = {
  version: 1,
  id: '20260101-000000-aaaa',
  state: 'planned',
  states: [{ state: 'planned', at: '2026-01-01T00:00:00.000Z' }],
  manifest: { name: 'm.csv', file: 'manifest.csv', sha256: '', bytes: 0 },
  plan: { rows: 1, callable: 1, invalid: 0, duplicates: 0, partial: 0, columns: [], operations: [] },
  options: leastOptions,
};
