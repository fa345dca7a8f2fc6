import { noOutcomes } from '../../src/domain/terms.ts';
import type { RecordedPace } from '../../src/engine/report/rate-history.ts';
import type { RunFacts } from '../../src/engine/run/facts/run-facts.ts';

/** A run of 12,000 rows that is called, of which a test changes what matters. */
export function runFacts(changes: Partial<RunFacts> = {}): RunFacts {
  return {
    id: 'monthly',
    state: 'running',
    wait: undefined,
    because: undefined,
    wantedRate: 'auto',
    priority: 'normal',
    ended: false,
    manifest: 'rows.csv',
    startedAt: undefined,
    baseUrl: 'https://api.example.com',
    rows: 12_000,
    done: 4_512,
    counts: { ...noOutcomes(), succeeded: 4_480, failed: 32 },
    throughput: { rowsPerSecond: 640, of: 'now' },
    workers: [],
    ...changes,
  };
}

/** A rate that the user has requested, without a limit. */
export function pacedBy(changes: Partial<RecordedPace> = {}): RecordedPace {
  return {
    allowed_per_s: 50,
    limit_per_s: null,
    concurrency: 20,
    phase: 'fixed',
    reason: 'as requested',
    bound_by: null,
    wait_until: null,
    wait_by: null,
    away: null,
    ...changes,
  };
}
