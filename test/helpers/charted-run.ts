import type { PageStop } from '../../src/engine/report/html/page-data.ts';
import type { ReportLine } from '../../src/engine/report/join-results.ts';
import type { RatePoint } from '../../src/engine/report/rate-history.ts';
import type { SummaryHead } from '../../src/engine/report/summary.ts';
import { resultOf } from '../engine/journal/arbitraries.ts';
import { callableRow } from './planned-row.ts';

/** When the run was started, seconds since 1970. */
export const started = Date.parse('2026-01-01T10:00:00Z') / 1_000;

const typicalMs = 40;
const callsPerSecond = 20;

export interface ChartedRunOptions {
  /** Accepted calls in each second of work. */
  readonly accepted: readonly number[];
  /** More about these seconds. */
  readonly points?: Readonly<Record<number, Partial<RatePoint>>>;
  readonly allowed?: number | null;
  /** The seconds since the start with calls; by default each second of work. */
  readonly calls?: readonly number[];
  /** Duration of the slowest call of each of these seconds. */
  readonly slowestMs?: number;
  readonly stops?: readonly PageStop[];
  readonly retries?: readonly string[];
}

/** This many seconds after the start, ISO 8601 UTC. */
export function secondsLater(seconds: number): string {
  return new Date((started + seconds) * 1_000).toISOString();
}

/** A run whose pages have charts: its lines and what a page must know besides. */
export function chartedRun(options: ChartedRunOptions) {
  const { accepted, points = {}, allowed = 50, stops = [], retries = [] } = options;
  const { calls = [...accepted.keys()], slowestMs = typicalMs } = options;
  const series = accepted.map((calls, second): RatePoint => {
    const point = { t_s: second + 1, allowed_per_s: allowed, accepted_per_s: calls, rejected: 0 };
    return { ...point, ...points[second] };
  });
  // The run has worked until the first stop, and then from its end on.
  const starts = [{ t_s: 0, at: secondsLater(0) }];
  for (const { from, to } of stops) starts.push({ t_s: Date.parse(from) / 1_000 - started, at: to });
  const facts: Partial<SummaryHead> = {
    started_at: secondsLater(0),
    retries,
    rate: { wanted: 'auto', limit_per_s: null, waited_s: 0, rejected: 0, series, starts },
  };
  const lines = calls.flatMap((second) =>
    Array.from({ length: callsPerSecond }, (_, index): ReportLine => {
      const row = second * callsPerSecond + index + 1;
      const durationMs = index === 0 ? slowestMs : typicalMs;
      const result = resultOf(row, { startedAt: secondsLater(second), durationMs });
      return { row: callableRow(row, [String(row)]), result };
    }),
  );
  return { lines, facts, stops };
}
