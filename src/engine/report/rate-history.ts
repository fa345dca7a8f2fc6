import { join } from 'node:path';
import { z } from 'zod';
import { readJsonFileIfAny } from '../../base/disk/json-file.ts';
import { phases } from '../../domain/pace.ts';

/** `rate.json` of a run. For display only. */
const pointSchema = z.object({
  /** Seconds of work since the first start. */
  t_s: z.number(),
  /** Null when unlimited. */
  allowed_per_s: z.number().nullable(),
  /** Calls of all runs that share the API. */
  accepted_per_s: z.number(),
  /** Calls that the API rejected as too many. */
  rejected: z.number(),
  /** Seconds since the previous point that count in the total `waited_s`; absent when 0. */
  waited_s: z.number().optional(),
  /** Why no call could be made. */
  reason: z.string().optional(),
});

const startSchema = z.object({
  t_s: z.number(),
  /** ISO 8601 UTC. */
  at: z.string(),
});

const rateHistorySchema = z.object({
  version: z.literal(1),
  /** `auto`, `auto..50/s`, `50/s` */
  wanted: z.string(),
  /** The latest values. */
  allowed_per_s: z.number().nullable(),
  limit_per_s: z.number().nullable(),
  concurrency: z.number(),
  phase: z.enum(phases),
  reason: z.string(),
  wait_until: z.string().nullable(),
  /** The `restBy` of a pace. */
  wait_by: z.string().optional(),
  /** While the API answers no call. */
  away: z.object({ why: z.string(), since: z.string(), gives_up_at: z.string().nullable() }).optional(),
  /**
   * Seconds in which no call but a test could be made: the API was away, asked to wait, or rejected every call; or the datastore was away.
   */
  waited_s: z.number(),
  rejected: z.number(),
  seen_at: z.string(),
  /** One point per second, fewer in long runs. */
  series: z.array(pointSchema),
  /** When work started, continued after a stop, or a clock was set. */
  starts: z.array(startSchema),
});

export type RateHistory = z.infer<typeof rateHistorySchema>;
export type RatePoint = z.infer<typeof pointSchema>;

export const rateHistoryFile = 'rate.json';

/** Undefined when the file is missing or unreadable. */
export function readRateHistory(folder: string): Promise<RateHistory | undefined> {
  return readJsonFileIfAny(join(folder, rateHistoryFile), rateHistorySchema);
}
