import { join } from 'node:path';
import { z } from 'zod';
import { steadyNow, timeOfDay } from '../../../base/async/clock.ts';
import { changeJsonFile } from '../../../base/disk/changed-file.ts';
import { readJsonFileIfAny } from '../../../base/disk/json-file.ts';
import type { Pace, StartingPoint } from '../../../domain/pace.ts';

const estimateSchema = z.object({
  base_url: z.string(),
  /** A mark of the token, which distinguishes tokens without revealing them. */
  token: z.string(),
  rate_per_s: z.number().positive().exactOptional(),
  concurrency: z.number().int().positive().exactOptional(),
  /** The end of a wait for which the API asked. */
  wait_until: z.string().exactOptional(),
  wait_by: z.string().optional(),
  at: z.string(),
});

const fileSchema = z.object({ version: z.literal(1), limits: z.array(estimateSchema) });

/** What `limits.json` says of one API and token. */
export type EstimatedLimits = ReturnType<typeof openEstimatedLimits>;

const outdatedMs = 30 * 24 * 60 * 60 * 1_000;
const mostLimits = 100;

export function openEstimatedLimits(stateDir: string, baseUrl: string, tokenMark: string) {
  const path = join(stateDir, 'limits.json');
  const isOwn = (limit: z.infer<typeof estimateSchema>): boolean =>
    limit.base_url === baseUrl && limit.token === tokenMark;

  const recent = (file: z.infer<typeof fileSchema> | undefined) =>
    (file?.limits ?? []).filter(({ at }) => Date.parse(at) > Date.now() - outdatedMs);

  return {
    async load(): Promise<StartingPoint> {
      const known = recent(await readJsonFileIfAny(path, fileSchema)).find(isOwn);
      if (known === undefined) return {};
      // Setting the clock back must not lengthen a wait.
      const waitEnd = Date.parse(known.wait_until ?? '');
      const waitMs = Math.min(waitEnd - Date.now(), waitEnd - Date.parse(known.at));
      return {
        ...(known.rate_per_s !== undefined && { limit: known.rate_per_s }),
        ...(known.concurrency !== undefined && { concurrency: known.concurrency }),
        ...(waitMs > 0 && { restUntil: steadyNow() + waitMs, restBy: known.wait_by }),
      };
    },
    async save({ limit, concurrency, restUntil, restBy }: StartingPoint): Promise<void> {
      const own = {
        base_url: baseUrl,
        token: tokenMark,
        // An invalid value would make the whole file unreadable.
        ...(isPositive(limit) && { rate_per_s: limit }),
        ...(isPositive(concurrency) && { concurrency: Math.ceil(concurrency) }),
        ...(restUntil !== undefined && { wait_until: timeOfDay(restUntil).toISOString(), wait_by: restBy }),
        at: new Date().toISOString(),
      };
      await changeJsonFile(path, fileSchema, (file) => {
        const otherLimits = recent(file).filter((one) => !isOwn(one));
        return { version: 1 as const, limits: [...otherLimits, own].slice(-mostLimits) };
      });
    },
  };
}

function isPositive(value: number | undefined): value is number {
  return value !== undefined && Number.isFinite(value) && value > 0;
}

/** Waits shorter than this end before another run starts, and are not saved. */
const worthKeepingMs = 5_000;

/** Saves what this run has learned for the next run. */
export async function keepEstimate(estimates: EstimatedLimits, pace: Pace): Promise<void> {
  const { limit, concurrency, restUntil = 0, restBy } = pace;
  const waits = restUntil > steadyNow() + worthKeepingMs;
  const saved = await estimates.load();
  if (limit === undefined && !waits && saved.restUntil === undefined) return;
  await estimates.save({
    ...(saved.limit !== undefined && { limit: saved.limit }),
    ...(limit !== undefined && { limit, concurrency }),
    ...(waits && { restUntil, restBy }),
  });
}
