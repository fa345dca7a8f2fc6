import { join } from 'node:path';
import { z } from 'zod';
import { readJsonFileIfAny } from '../disk/json-file.ts';
import { phases } from '../pace.ts';

/**
 * `rate.json` of a run: how fast the API could be called over time, and why. It is for people: nothing depends on it.
 */
const pointSchema = z.object({
  /** Seconds of work since the run was first started. */
  t_s: z.number(),
  /** Calls per second that were allowed; null: as many as can be. */
  allowed_per_s: z.number().nullable(),
  /** Calls per second that the API accepted, of all runs that share it. */
  accepted_per_s: z.number(),
  /** Calls that it rejected because they were too many. */
  rejected: z.number(),
  /** Seconds before it in which no call could be made, as `waited_s` of all; absent: none. */
  waited_s: z.number().optional(),
});

const rateHistorySchema = z.object({
  version: z.literal(1),
  /** As the user wanted it: `auto`, `auto..50/s`, `50/s`. */
  wanted: z.string(),
  /** What was allowed last, the limit of the API as far as it is known, and why. */
  allowed_per_s: z.number().nullable(),
  limit_per_s: z.number().nullable(),
  concurrency: z.number(),
  phase: z.enum(phases),
  reason: z.string(),
  /** Until when no call may be made, ISO 8601 UTC. */
  wait_until: z.string().nullable(),
  /** Seconds in which no call could be made because the API asked to wait or refused everything. */
  waited_s: z.number(),
  rejected: z.number(),
  seen_at: z.string(),
  /** In the order of time: a point a second, fewer in long runs. */
  series: z.array(pointSchema),
});

export type RateHistory = z.infer<typeof rateHistorySchema>;
export type RatePoint = z.infer<typeof pointSchema>;

export const rateHistoryFile = 'rate.json';

/** The history of a run's rate, as far as there is one that can be read. */
export function readRateHistory(folder: string): Promise<RateHistory | undefined> {
  return readJsonFileIfAny(join(folder, rateHistoryFile), rateHistorySchema);
}
