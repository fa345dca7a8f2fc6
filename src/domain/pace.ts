import { steadyNow } from '../base/async/clock.ts';

/**
 * What determines the pace:
 *
 * - `starting`: raises the rate quickly, because the limit is unknown;
 * - `cooldown`: has lowered it after refusals and waits for the effect;
 * - `searching`: raises it slowly between a rate that was fine and one that was not;
 * - `holding`: keeps it just under the limit;
 * - `probing`: raises it to see whether the limit has changed;
 * - `waiting`: lets a single call through now and then, until one is accepted;
 * - `stated`: keeps to the limits that the API states;
 * - `fixed`: keeps to the rate that the user set.
 */
export const phases = [
  'starting',
  'cooldown',
  'searching',
  'holding',
  'probing',
  'waiting',
  'stated',
  'fixed',
] as const;

export type Phase = (typeof phases)[number];

/** How fast all workers together may call an API. */
export interface Pace {
  /** Calls per second; absent: as many as possible. */
  readonly rate?: number | undefined;
  /** Whether calls have tested the rate. False for a rate that the calls do not reach. */
  readonly isKept: boolean;
  readonly concurrency: number;
  /** The end of a rest, in milliseconds of the steady clock. Before it, no call may be made. */
  readonly restUntil?: number | undefined;
  /** What asked for a rest of more than a minute: `Retry-After: 7200`. */
  readonly restBy?: string | undefined;
  /** Rests that the API requested before this time (steady clock) are over, or end at `restUntil`. */
  readonly restsSince?: number | undefined;
  /** The API's calls per second, once known. */
  readonly limit?: number | undefined;
  readonly phase: Phase;
  /** True once 503s have gone away with a lower rate: they count as refusals, like 429s. */
  readonly refuses503: boolean;
  /** Why the pace is as it is, for display. */
  readonly reason: string;
  /** The outage, while the API answers no call. */
  readonly away?: ApiOutage | undefined;
  /** Id of the run whose `--rate` bounds a rate that several runs share. */
  readonly boundBy?: string | undefined;
}

/** An outage of the API, in milliseconds of the steady clock. */
export interface ApiOutage {
  readonly why: string;
  readonly since: number;
  /** When the worker gives up, by the steady clock. Absent: never. */
  readonly givesUpAt?: number | undefined;
}

/** Calls of all workers since the governor started. */
export interface PaceReport extends Pace {
  readonly accepted: number;
  readonly rejected: number;
}

/** The shortest rest that is shown: a shorter one is part of keeping the pace. */
export const noticeableRestMs = 1_000;

/** The precision of rates that are shown or stored. */
export function toHundredths(value: number): number {
  return Math.round(value * 100) / 100;
}

/** Why only single calls are made, or none. */
export interface Outage {
  readonly reason: string;
  /** The time until a call tests whether the outage is over. */
  readonly testMs: number;
  /** Present if the API answers no call: why, for how long, and after which time the worker gives up. */
  readonly away?: { readonly why: string; readonly lastedMs: number; readonly leftMs?: number | undefined };
}

export function duringOutage<Known extends Pace>(pace: Known, { reason, testMs, away }: Outage): Known {
  const now = steadyNow();
  return {
    ...pace,
    phase: 'waiting',
    reason,
    restUntil: now + testMs,
    restBy: undefined,
    away: away && {
      why: away.why,
      since: now - away.lastedMs,
      givesUpAt: away.leftMs === undefined ? undefined : now + away.leftMs,
    },
  };
}

/** What is known of an API before its first call. */
export type StartingPoint = Partial<
  Pick<Pace, 'limit' | 'concurrency' | 'restUntil' | 'restBy' | 'refuses503'>
>;

/** After at most this time, a call tests a rest that another process recorded. */
export const longestInheritedRestMs = 300_000;
