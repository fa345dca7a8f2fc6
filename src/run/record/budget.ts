import { z } from 'zod';
import { steadyNow } from '../../clock.ts';
import { repeat } from '../../repeat.ts';

/** How much of a run one session does before it stops by itself, to be resumed. */
export const budgetSchema = z.object({
  /** Rows that are called, if there are as many. */
  maxRows: z.number().int().min(1).exactOptional(),
  /** Since the run was started or resumed, milliseconds. */
  maxDurationMs: z.number().min(1).exactOptional(),
  /** The next such time of day. */
  stopAt: z
    .object({
      /** `06:00` */
      time: z.string(),
      /** Of the IANA database; absent: that of the system. */
      timeZone: z.string().exactOptional(),
    })
    .exactOptional(),
});

/** What a budget comes to once the run has started, for the process that takes the run over. */
export const startedBudgetSchema = z.object({
  /** The last row that may be called, of the canary and of all rows. */
  rows: z.object({ canary: z.number(), all: z.number() }).exactOptional(),
  /** When its duration is over, ISO 8601 UTC. */
  until: z.string().exactOptional(),
  /** When its time of day has come, ISO 8601 UTC. */
  stopAt: z.string().exactOptional(),
});

export type Budget = Readonly<z.infer<typeof budgetSchema>>;
export type StartedBudget = Readonly<z.infer<typeof startedBudgetSchema>>;

/** The next moment that is such a time of day: the first of two, and the end of a gap that has swallowed it. */
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

const lookMs = 500;

/** The end of a budget's time. */
export interface Deadline {
  /** Aborts when it has come; its reason says why. */
  readonly signal: AbortSignal;
  /** For the process that takes the run over. */
  readonly started: Pick<StartedBudget, 'until' | 'stopAt'>;
  close(): void;
}

/**
 * Starts the time of a budget, or continues one that another process has started. A duration goes by a clock that is never
 * set, a time of day by the one that people read.
 *
 * @param clocks for tests
 */
export async function startDeadline(
  { maxDurationMs, stopAt }: Budget,
  before: StartedBudget = {},
  clocks = { timeOfDay: Date.now, steady: steadyNow },
): Promise<Deadline> {
  const now = clocks.timeOfDay();
  const until =
    before.until ?? (maxDurationMs === undefined ? undefined : new Date(now + maxDurationMs).toISOString());
  const next = stopAt && (before.stopAt ?? (await nextTimeOfDay(stopAt, new Date(now))).toISOString());
  const steadyUntil = until === undefined ? undefined : clocks.steady() + Date.parse(until) - now;

  const controller = new AbortController();
  const look = (): void => {
    if (steadyUntil !== undefined && clocks.steady() >= steadyUntil)
      controller.abort('the time limit of --max-duration has passed');
    else if (next !== undefined && clocks.timeOfDay() >= Date.parse(next))
      controller.abort(`it is ${stopAt?.time}, the time of --stop-at`);
  };
  look();
  const looks = repeat(look, {
    // A duration ends at its end, not at the next look.
    everyMs: () => {
      const leftMs = (steadyUntil ?? Number.POSITIVE_INFINITY) - clocks.steady();
      return leftMs > 0 ? Math.min(lookMs, leftMs) : lookMs;
    },
  });
  return {
    signal: controller.signal,
    started: { ...(until !== undefined && { until }), ...(next !== undefined && { stopAt: next }) },
    close: () => void looks.stop(),
  };
}

/** The rows that a budget allows, as the highest number of each kind. */
export function allowedRows(
  maxRows: number,
  rows: number,
  isFinished: (row: number) => boolean,
  canary: ReadonlySet<number> = new Set(),
): NonNullable<StartedBudget['rows']> {
  let left = maxRows;
  /** The last of those that are still allowed; all of them when there are no more than that. */
  const last = (isMeant: (row: number) => boolean): number => {
    let allowed = 0;
    for (let row = 1; row <= rows; row += 1) {
      if (!isMeant(row) || isFinished(row)) continue;
      if (left === 0) return allowed;
      left -= 1;
      allowed = row;
    }
    return rows;
  };
  const ofCanary = canary.size === 0 ? rows : last((row) => canary.has(row));
  return { canary: ofCanary, all: ofCanary < rows ? 0 : last((row) => !canary.has(row)) };
}
