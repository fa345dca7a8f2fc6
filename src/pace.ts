/**
 * What sets the pace:
 *
 * - `starting`: raises the rate quickly, because the limit is not known;
 * - `cooldown`: has lowered it after refusals and waits for that to show;
 * - `searching`: raises it slowly between a rate that was fine and one that was not;
 * - `holding`: keeps it just under the limit;
 * - `probing`: raises it to see whether the limit still is where it was;
 * - `waiting`: lets a single call through now and then, until one is accepted;
 * - `stated`: keeps to what the API says of its limits;
 * - `fixed`: keeps to what the user has asked for.
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

/** How an API is called at the moment, by all workers together. */
export interface Pace {
  /** Calls per second that are allowed; absent: as many as can be. */
  readonly rate?: number;
  /** Whether the rate is kept: one that nothing has tested yet, and that the workers do not reach, is not. */
  readonly isKept: boolean;
  /** Calls in flight that are allowed. */
  readonly concurrency: number;
  /** Until when no call may be made, milliseconds of the steady clock; absent when calls may be made. */
  readonly restUntil?: number;
  /** The limit of the API in calls per second, once it is known. */
  readonly limit?: number;
  readonly phase: Phase;
  /** Whether each 503 is a refusal, as a 429 is: they were found to go when the rate goes down. */
  readonly refuses503: boolean;
  /** Why the rate is as it is, for people. */
  readonly reason: string;
  /** The run whose bound sets the rate, where several runs share it. */
  readonly boundBy?: string;
}

/** A pace, and what calls have met with since its governor began. */
export interface PaceReport extends Pace {
  /** Calls that the API has accepted and rejected, of all workers. */
  readonly accepted: number;
  readonly rejected: number;
}

/** A shorter rest, in milliseconds, is the pace at work, and not shown. */
export const noticeableRestMs = 1_000;

/** What is known of the limits of an API before its first call. */
export type StartingPoint = Partial<Pick<Pace, 'limit' | 'concurrency' | 'restUntil' | 'refuses503'>>;
