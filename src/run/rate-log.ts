import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { steadyNow, timeOfDay } from '../clock.ts';
import { toHundredths } from '../cluster/rate-policy.ts';
import { writeFileAtomically } from '../files.ts';
import type { CallsInFlight } from '../rate/traffic-meter.ts';

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
});

const rateHistorySchema = z.object({
  version: z.literal(1),
  /** As the user wanted it: `auto`, `auto..50/s`, `50/s`. */
  wanted: z.string(),
  /** What was allowed last, the limit of the API as far as it is known, and why. */
  allowed_per_s: z.number().nullable(),
  limit_per_s: z.number().nullable(),
  concurrency: z.number(),
  phase: z.string(),
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
type Point = z.infer<typeof pointSchema>;

/** What is known at one moment. */
export interface RateFacts {
  readonly rate?: number | undefined;
  readonly learned?: number | undefined;
  readonly concurrency: number;
  readonly phase: string;
  readonly reason: string;
  /** Of the steady clock. */
  readonly restUntil?: number | undefined;
  /** Calls of this process in flight; undefined when there are none. */
  readonly inFlight?: CallsInFlight | undefined;
  /** Calls so far; they may begin anew. */
  readonly accepted: number;
  readonly rejected: number;
}

const file = 'rate.json';
const sampleMs = 1_000;
const saveMs = 5_000;
const mostPoints = 600;
/** A shorter rest is the pace at work. */
const noticeableRestMs = 1_000;

/** Keeps the history of a run's rate in its folder, from where an earlier process left it. */
export class RateLog {
  readonly #path: string;
  readonly #wanted: string;
  #series: Point[];
  #seconds: number;
  #waited: number;
  #rejected: number;
  #facts: RateFacts | undefined;
  #before: { readonly accepted: number; readonly rejected: number; readonly at: number } | undefined;
  #savedAt = 0;
  #savedReason = '';
  #saving = Promise.resolve();
  #closed = false;
  readonly #timer: NodeJS.Timeout;

  private constructor(path: string, wanted: string, history: RateHistory | undefined) {
    this.#path = path;
    this.#wanted = wanted;
    this.#series = [...(history?.series ?? [])];
    this.#seconds = this.#series.at(-1)?.t_s ?? 0;
    this.#waited = history?.waited_s ?? 0;
    this.#rejected = history?.rejected ?? 0;
    this.#timer = setInterval(() => this.#sample(), sampleMs);
    this.#timer.unref();
  }

  static async open(folder: string, wanted: string): Promise<RateLog> {
    return new RateLog(join(folder, file), wanted, await readRateHistory(folder));
  }

  see(facts: RateFacts): void {
    this.#facts = facts;
    this.#before ??= { accepted: facts.accepted, rejected: facts.rejected, at: performance.now() };
  }

  /** Writes nothing any more. */
  abandon(): void {
    clearInterval(this.#timer);
    this.#facts = undefined;
  }

  /** Writes it a last time. */
  async close(): Promise<void> {
    if (!this.#closed) {
      this.#closed = true;
      clearInterval(this.#timer);
      this.#sample();
      this.#save();
    }
    await this.#saving;
  }

  #sample(): void {
    const facts = this.#facts;
    const before = this.#before;
    if (facts === undefined || before === undefined) return;
    const at = performance.now();
    const seconds = (at - before.at) / 1_000;
    if (seconds < 0.1) return;
    const rejected = Math.max(0, facts.rejected - before.rejected);
    this.#seconds += seconds;
    this.#rejected += rejected;
    if ((facts.restUntil ?? 0) - steadyNow() > noticeableRestMs) this.#waited += seconds;
    this.#series.push({
      t_s: toHundredths(this.#seconds),
      allowed_per_s: facts.rate === undefined ? null : toHundredths(facts.rate),
      accepted_per_s: toHundredths(Math.max(0, facts.accepted - before.accepted) / seconds),
      rejected,
    });
    if (this.#series.length > mostPoints) this.#series = thinned(this.#series);
    this.#before = { accepted: facts.accepted, rejected: facts.rejected, at };
    if (at - this.#savedAt >= saveMs || facts.reason !== this.#savedReason) {
      this.#savedAt = at;
      this.#savedReason = facts.reason;
      this.#save();
    }
  }

  #save(): void {
    const facts = this.#facts;
    if (facts === undefined) return;
    const { rate, learned, restUntil } = facts;
    const history: RateHistory = {
      version: 1,
      wanted: this.#wanted,
      allowed_per_s: rate === undefined ? null : toHundredths(rate),
      limit_per_s: learned === undefined ? null : toHundredths(learned),
      concurrency: facts.concurrency,
      phase: facts.phase,
      reason: facts.reason,
      wait_until:
        restUntil !== undefined && restUntil > steadyNow() ? timeOfDay(restUntil).toISOString() : null,
      waited_s: Math.round(this.#waited),
      rejected: this.#rejected,
      seen_at: new Date().toISOString(),
      series: this.#series,
    };
    // It is worth no error that a disk is full: the journal will tell.
    this.#saving = this.#saving
      .then(() => writeFileAtomically(this.#path, `${JSON.stringify(history)}\n`))
      .catch(() => {});
  }
}

/** The history of a run's rate, as far as there is one that can be read. */
export async function readRateHistory(folder: string): Promise<RateHistory | undefined> {
  try {
    return rateHistorySchema.safeParse(JSON.parse(await readFile(join(folder, file), 'utf8'))).data;
  } catch {
    return undefined;
  }
}

/** Half as many points, each in place of two. */
function thinned(series: readonly Point[]): Point[] {
  const result: Point[] = [];
  let start = 0;
  for (let index = 0; index < series.length; index += 2) {
    const [first, second] = [series[index], series[index + 1]];
    if (first === undefined) break;
    if (second === undefined) {
      result.push(first);
      break;
    }
    const [one, other] = [first.t_s - start, second.t_s - first.t_s];
    result.push({
      t_s: second.t_s,
      allowed_per_s:
        first.allowed_per_s === null || second.allowed_per_s === null
          ? null
          : toHundredths((first.allowed_per_s + second.allowed_per_s) / 2),
      accepted_per_s: toHundredths(
        (first.accepted_per_s * one + second.accepted_per_s * other) / Math.max(one + other, 0.001),
      ),
      rejected: first.rejected + second.rejected,
    });
    start = second.t_s;
  }
  return result;
}
