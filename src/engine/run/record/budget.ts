import { z } from 'zod';
import { steadyNow } from '../../../base/async/clock.ts';
import { repeat } from '../../../base/async/repeat.ts';

/** Limits of one session. A run that reaches a limit can be resumed. */
export const budgetSchema = z.object({
  maxRows: z.number().int().min(1).exactOptional(),
  /** The longest duration, counted from the start or resume. */
  maxDurationMs: z.number().min(1).exactOptional(),
  stopAt: z
    .object({
      /** The time of day, as `06:00`. */
      time: z.string(),
      /** The IANA name of the time zone. Absent: the system's time zone. */
      timeZone: z.string().exactOptional(),
    })
    .exactOptional(),
});

/** Absolute limits, for a process that takes a started run over. */
export const startedBudgetSchema = z.object({
  /** The places of the last rows that may be called. */
  rows: z.object({ canary: z.number(), all: z.number() }).exactOptional(),
  /** The end of `maxDurationMs`. */
  until: z.string().exactOptional(),
  stopAt: z.string().exactOptional(),
});

export type Budget = Readonly<z.infer<typeof budgetSchema>>;
export type StartedBudget = Readonly<z.infer<typeof startedBudgetSchema>>;

/** The next moment of a time of day: the first if the time occurs twice, the end of the gap if it does not exist. */
export async function nextTimeOfDay(
  { time, timeZone }: NonNullable<Budget['stopAt']>,
  after: Date,
): Promise<Date> {
  const { Cron } = await import('croner');
  const [hour, minute] = time.split(':').map(Number);
  const next = new Cron(
    `${minute} ${hour} * * *`,
    timeZone === undefined ? {} : { timezone: timeZone },
  ).nextRun(after);
  if (next === null) throw new TypeError(`There is no ${time} after ${after.toISOString()}.`);
  return next;
}

const checkEveryMs = 500;

export interface Deadline {
  /** Aborted with the name of the limit that is reached. */
  readonly signal: AbortSignal;
  readonly started: Pick<StartedBudget, 'until' | 'stopAt'>;
  close(): void;
}

/**
 * A duration uses the monotonic clock, a time of day the wall clock.
 *
 * @param inherited the limits of another process
 */
export async function startDeadline(
  { maxDurationMs, stopAt }: Budget,
  inherited: StartedBudget = {},
  clocks = { timeOfDay: Date.now, steady: steadyNow },
): Promise<Deadline> {
  const now = clocks.timeOfDay();
  const until =
    inherited.until ??
    (maxDurationMs === undefined ? undefined : new Date(now + maxDurationMs).toISOString());
  const next = stopAt && (inherited.stopAt ?? (await nextTimeOfDay(stopAt, new Date(now))).toISOString());
  const steadyUntil = until === undefined ? undefined : clocks.steady() + Date.parse(until) - now;

  const controller = new AbortController();
  const check = (): void => {
    if (steadyUntil !== undefined && clocks.steady() >= steadyUntil)
      controller.abort('the time limit of --max-duration has passed');
    else if (next !== undefined && clocks.timeOfDay() >= Date.parse(next))
      controller.abort(`it is ${stopAt?.time}, the time of --stop-at`);
  };
  check();
  const checks = repeat(check, {
    // A duration ends exactly, not at the next check.
    everyMs: () => {
      const leftMs = (steadyUntil ?? Number.POSITIVE_INFINITY) - clocks.steady();
      return leftMs > 0 ? Math.min(checkEveryMs, leftMs) : checkEveryMs;
    },
  });
  return {
    signal: controller.signal,
    started: { ...(until !== undefined && { until }), ...(next !== undefined && { stopAt: next }) },
    close: () => void checks.stop(),
  };
}

/**
 * The last places within a budget.
 *
 * @param unfinished places of rows to be called
 */
export function allowedRows(
  maxRows: number,
  unfinished: readonly number[],
  rows: number,
  canary: ReadonlySet<number> = new Set(),
): NonNullable<StartedBudget['rows']> {
  let remaining = maxRows;
  const last = (isChosen: (row: number) => boolean): number => {
    let allowed = 0;
    for (const row of unfinished) {
      if (!isChosen(row)) continue;
      if (remaining === 0) return allowed;
      remaining -= 1;
      allowed = row;
    }
    return rows;
  };
  const ofCanary = canary.size === 0 ? rows : last((row) => canary.has(row));
  return { canary: ofCanary, all: ofCanary < rows ? 0 : last((row) => !canary.has(row)) };
}
