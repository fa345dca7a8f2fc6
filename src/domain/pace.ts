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

/** How all workers together call an API at present. */
export interface Pace {
  /** Calls per second that are allowed; absent: as many as possible. */
  readonly rate?: number | undefined;
  /** Whether the rate is kept: a rate that is untested, and that the workers do not reach, is not. */
  readonly isKept: boolean;
  /** Calls in flight that are allowed. */
  readonly concurrency: number;
  /** No call may be made before this time, milliseconds of the steady clock; absent when calls may be made. */
  readonly restUntil?: number | undefined;
  /** What asks for a rest of more than a minute: `Retry-After: 7200`. */
  readonly restBy?: string | undefined;
  /** Rests that the API asked for before this time have ended, or end at `restUntil`; milliseconds of the steady clock. */
  readonly restsSince?: number | undefined;
  /** The limit of the API in calls per second, once it is known. */
  readonly limit?: number | undefined;
  readonly phase: Phase;
  /** Whether each 503 is a refusal, like a 429: 503s were found to go away when the rate goes down. */
  readonly refuses503: boolean;
  /** Why the rate is what it is, for people. */
  readonly reason: string;
  /** The run whose bound sets the rate, where several runs share it. */
  readonly boundBy?: string | undefined;
}

/** A pace, and how calls ended since its governor started. */
export interface PaceReport extends Pace {
  /** Calls that the API has accepted and rejected, of all workers. */
  readonly accepted: number;
  readonly rejected: number;
}

/** A shorter rest, in milliseconds, is part of keeping the pace, and not shown. */
export const noticeableRestMs = 1_000;

/**
 * What asks for a long rest, and how to end it, for people; undefined for a short rest or none.
 *
 * @param run its id
 * @param now of the steady clock
 */
export function restAdvice(
  { restBy, restUntil = 0 }: Pick<Pace, 'restBy' | 'restUntil'>,
  run: string,
  now = steadyNow(),
): string | undefined {
  if (restBy === undefined || restUntil - now < noticeableRestMs) return undefined;
  return `"${restBy}" asks for this wait; to call sooner, type: cqbatch set-rate ${run} 5/s (or resume it with --rate 5/s)`;
}

/** An API that does not answer as it should, as a worker sees it. */
export interface Outage {
  readonly reason: string;
  /** Until the next call that tests whether it is over. */
  readonly testMs: number;
}

/** During an outage, the pace is that of the single calls that test whether it is over. */
export function duringOutage<Known extends Pace>(pace: Known, { reason, testMs }: Outage): Known {
  return { ...pace, phase: 'waiting', reason, restUntil: steadyNow() + testMs, restBy: undefined };
}

/** What is known about the limits of an API before its first call. */
export type StartingPoint = Partial<
  Pick<Pace, 'limit' | 'concurrency' | 'restUntil' | 'restBy' | 'refuses503'>
>;

/** A rest that an earlier run or another process left is tried by one call after at most this long, milliseconds. */
export const longestInheritedRestMs = 300_000;
