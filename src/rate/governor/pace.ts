/**
 * What the governor is doing:
 *
 * - `starting`: raises the rate quickly, because nobody knows the limit;
 * - `settling`: has lowered it after refusals and waits for that to show;
 * - `searching`: raises it slowly between a rate that was fine and one that was not;
 * - `holding`: keeps it just under the limit;
 * - `probing`: raises it to see whether the limit still is where it was;
 * - `waiting`: lets a single call through now and then, until one is accepted;
 * - `stated`: keeps to what the API says of its limits.
 */
export type Phase = 'starting' | 'settling' | 'searching' | 'holding' | 'probing' | 'waiting' | 'stated';

/** How the API may be called from now on, by all workers together. */
export interface Pace {
  /** Calls per second. */
  readonly rate: number;
  /** Calls in flight. */
  readonly concurrency: number;
  /** Until when none may be made, milliseconds of the governor's clock; absent when they may. */
  readonly restUntil?: number;
  readonly phase: Phase;
  /** Whether a 503 that does not ask to wait is no refusal: such calls fail at any rate, or that is being found out. */
  readonly tolerates503: boolean;
  /** Why the rate is as it is, for people. */
  readonly reason: string;
  /** The API's limit in calls per second, once it is known. */
  readonly learned?: number;
}
