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

/** Why a rate is as it is, for people. */
export const reasons = {
  unknown: 'looking for the limit of the API',
  learned: 'the limit found before',
  refused: 'calls were refused',
  held: 'just under the limit',
  probe: 'testing whether the limit has risen',
  risen: 'the limit has risen',
  dry: 'every call is refused',
  told: 'the API asks to wait',
  over: 'the API accepts calls again',
  stated: 'the limit that the API has stated',
  compared: 'calls fail with 503: testing whether fewer do at a lower rate',
  independent: (share: number) =>
    `${Math.abs(share - 0.5) < 0.06 ? 'half' : `${Math.round(share * 100)} %`} of the calls fail with 503 at any rate`,
  capped: 'the API limits the calls in flight',
} as const;

/** Calls per second to begin with when nothing is known: nobody minds so few. */
export const firstRate = 20;

/** So few calls per second still show when more are accepted. */
export const slowestRate = 1 / 300;

/** Whatever is learned or stated: more than any machine can send. */
export const fastestRate = 1_000_000;

/** A rate is in use when at least such a part of it is. */
export const inUse = 0.6;
