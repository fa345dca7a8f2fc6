import { join } from 'node:path';
import { z } from 'zod';
import { steadyNow, timeOfDay } from '../../base/async/clock.ts';
import { readJsonFileIfAny } from '../../base/disk/json-file.ts';
import { noticeableRestMs, type Pace, phases, toHundredths } from '../../domain/pace.ts';

/** How the API of a run is called. Other processes and pages read it, so that its times are ISO 8601 UTC, to the second. */
const recordedPaceSchema = z.object({
  /** The highest rate, in calls per second, to two decimals; null when unlimited. */
  allowed_per_s: z.number().nullable(),
  /** The limit of the API, in calls per second; null while unknown. */
  limit_per_s: z.number().nullable(),
  concurrency: z.number(),
  phase: z.enum(phases),
  reason: z.string(),
  /** The id of the run whose `--rate` bounds a rate that several runs share. */
  bound_by: z.string().nullable().default(null),
  /** The time before which no call may be made; null also for a rest that is part of keeping the pace. */
  wait_until: z.string().nullable(),
  /** The header that asked for a rest of more than a minute: `Retry-After: 7200`. */
  wait_by: z.string().nullable().default(null),
  /** Present while the API answers no call. `gives_up_at` is null when the run waits without an end. */
  away: z
    .object({ reason: z.string(), since: z.string(), gives_up_at: z.string().nullable() })
    .nullable()
    .default(null),
});

export type RecordedPace = Readonly<z.infer<typeof recordedPaceSchema>>;

/** A pace as it is recorded. Only here, its steady times become times of day. */
export function recordedPace(pace: Pace): RecordedPace {
  const {
    rate,
    limit,
    concurrency,
    phase,
    reason,
    boundBy = null,
    restUntil = 0,
    restBy = null,
    away,
  } = pace;
  const isResting = restUntil - steadyNow() >= noticeableRestMs;
  return {
    allowed_per_s: rate === undefined ? null : toHundredths(rate),
    limit_per_s: limit === undefined ? null : toHundredths(limit),
    concurrency,
    phase,
    reason,
    bound_by: boundBy,
    wait_until: isResting ? secondOf(restUntil) : null,
    wait_by: isResting ? restBy : null,
    away:
      away === undefined
        ? null
        : {
            reason: away.why,
            since: secondOf(away.since),
            gives_up_at: away.givesUpAt === undefined ? null : secondOf(away.givesUpAt),
          },
  };
}

/** The pace that was saved last, without a rest that has ended since. */
export function lastPace(history: RateHistory, now = Date.now()): RecordedPace {
  const pace = recordedPaceSchema.parse(history);
  const isResting = pace.wait_until !== null && Date.parse(pace.wait_until) > now;
  return isResting ? pace : { ...pace, wait_until: null, wait_by: null };
}

/** A time to the second, so that the end of a rest is written the same each time. */
function secondOf(steadyAt: number): string {
  return new Date(1_000 * Math.round(timeOfDay(steadyAt).getTime() / 1_000)).toISOString();
}

/** A point of `rate.json`, the file of a run that is for display only. */
const pointSchema = z.object({
  /** The time of the point, in seconds of work since the first start. */
  t_s: z.number(),
  /** The highest rate, in calls per second. Null when unlimited. */
  allowed_per_s: z.number().nullable(),
  /** The accepted calls per second of all runs that share the API. */
  accepted_per_s: z.number(),
  /** The rows of this run that were finished by calls, per second. Absent when 0. */
  rows_per_s: z.number().optional(),
  /** The number of calls that the API rejected as too many. */
  rejected: z.number(),
  /** Seconds since the previous point that count in the total `waited_s`; absent when 0. */
  waited_s: z.number().optional(),
  /** Why no call could be made. */
  reason: z.string().optional(),
});

const startSchema = z.object({
  t_s: z.number(),
  /** The time of the start, ISO 8601 UTC. */
  at: z.string(),
});

const rateHistorySchema = z.object({
  version: z.literal(1),
  /** The rate that the user wants: `auto`, `auto..50/s`, `50/s`. */
  wanted: z.string(),
  /** The pace that was recorded last. */
  ...recordedPaceSchema.shape,
  /**
   * Seconds in which no call but a test could be made: the API was away, asked to wait, or rejected every call; or the datastore was away.
   */
  waited_s: z.number(),
  rejected: z.number(),
  seen_at: z.string(),
  /** The points of the history: one per second, fewer in long runs. */
  series: z.array(pointSchema),
  /** The starts: when work started, continued after a stop, or a clock was set. */
  starts: z.array(startSchema),
});

export type RateHistory = z.infer<typeof rateHistorySchema>;
export type RatePoint = z.infer<typeof pointSchema>;

export const rateHistoryFile = 'rate.json';

/** The history of a run's rate. Undefined when the file is missing or unreadable. */
export function readRateHistory(folder: string): Promise<RateHistory | undefined> {
  return readJsonFileIfAny(join(folder, rateHistoryFile), rateHistorySchema);
}

/** A history that is older says nothing of the present: its process saves it every five seconds. */
const presentMs = 15_000;
const recentSeconds = 30;
/** The least time from which a rate follows. */
const leastSeconds = 3;

/**
 * The rows that a run finished per second, over its last half minute of work in which the API could be called. Undefined unless its process
 * has measured for some seconds.
 */
export function recentRowRate(
  { series, seen_at }: Pick<RateHistory, 'series' | 'seen_at'>,
  now = Date.now(),
): number | undefined {
  if (now - Date.parse(seen_at) > presentMs) return undefined;
  const from = (series.at(-1)?.t_s ?? 0) - recentSeconds;
  let [rows, seconds] = [0, 0];
  for (const [index, { t_s, rows_per_s = 0, waited_s = 0 }] of series.entries()) {
    const lasted = t_s - (series[index - 1]?.t_s ?? 0);
    if (t_s <= from) continue;
    rows += rows_per_s * lasted;
    seconds += Math.max(0, lasted - waited_s);
  }
  return seconds < leastSeconds ? undefined : rows / seconds;
}

/** The time that a curve of the present shows. */
const curveSeconds = 120;

/** The rows per second of the last two minutes, in the order of time, for a curve. */
export function recentCurve({ series }: Pick<RateHistory, 'series'>): readonly number[] {
  const from = (series.at(-1)?.t_s ?? 0) - curveSeconds;
  return series.filter(({ t_s }) => t_s > from).map(({ rows_per_s = 0 }) => rows_per_s);
}
