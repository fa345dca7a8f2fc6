import type { ManifestInput } from '../../../src/engine/run/plan/create-run.ts';
import type { RowOptions } from '../../../src/engine/run/plan/open-manifest.ts';
import type { RunOptions, RunRecord } from '../../../src/engine/run/record/record.ts';

/** The smallest set of options for a run. */
export const leastOptions: RunOptions = {
  baseUrl: 'http://127.0.0.1/',
  onConflict: 'refuse',
  concurrency: 1,
  attempts: 1,
  timeoutMs: 1,
  backoffMs: 1,
};

/** A planned run of one row. */
export const plannedRecord: RunRecord = {
  version: 2,
  id: '20260101-000000-aaaa',
  state: 'planned',
  states: [{ state: 'planned', at: '2026-01-01T00:00:00.000Z' }],
  manifest: { name: 'm.csv', sha256: '', bytes: 0 },
  rows: { sha256: '', bytes: 0 },
  plan: {
    rows: 1,
    callable: 1,
    invalid: 0,
    duplicates: 0,
    superseded: 0,
    doneBefore: 0,
    asWanted: 0,
    conflicts: 0,
    partial: 0,
    operations: [],
  },
  options: leastOptions,
};

/** The rows of a manifest, for a new run. */
export function manifestAt(source: string, reading: Partial<RowOptions> = {}): ManifestInput {
  return { kind: 'manifest', source, reading: { clearToken: '<clear>', ...reading } };
}
