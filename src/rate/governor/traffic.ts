import type { StatedLimit } from '../../api/limits/stated-limit.ts';

/** What the calls of a period have met with, those of all workers together. */
export interface Traffic {
  /** Calls that the API let through, whatever became of them then. */
  readonly accepted: number;
  /** Calls that it refused because they were too many. */
  readonly rejected: number;
  /** Calls that were answered 503 without being asked to wait, counted as rejected or not. Default 0. */
  readonly unavailable?: number;
  /** When the latest of the rejected calls was sent, milliseconds of the governor's clock. */
  readonly rejectedSentAt?: number;
  /** HTTP status of the latest of the rejected calls. */
  readonly rejectedWith?: number;
  /** Until when the API asks to wait, milliseconds of the governor's clock; the latest of what it asked for. */
  readonly waitUntil?: number;
  /** Sum of the durations of the accepted calls, milliseconds. */
  readonly durationMs: number;
  /** Calls in flight now. */
  readonly active: number;
  /** The most calls that were in flight, themselves included, when one was sent that was accepted. */
  readonly acceptedAmong?: number;
  /** The fewest calls that were in flight, themselves included, when one was sent that was rejected. */
  readonly rejectedAmong?: number;
  /** By how many those two may be off: the API counts at other moments, and each process counts its own. Default 0. */
  readonly amongError?: number;
  /** What the answers said of the API's limits; the latest of each. */
  readonly stated: readonly StatedLimit[];
}

/** What a rate search is told, in time order. Times are milliseconds that never go back. */
export interface RateNews {
  readonly now: number;
  readonly accepted: number;
  readonly rejected: number;
  /** Calls that the API says are still permitted, where it says so and that is all that is known of its limit. */
  readonly remaining: number | undefined;
  /** Calls in flight, which it may not have counted yet. */
  readonly active: number;
  /** Until when the API has asked to wait; 0 if it never has. */
  readonly waitUntil: number;
  /** Until when no call was to be made, for any reason. */
  readonly restUntil: number;
  /** Mean duration of a call, and for how long calls are still sent as was decided before, milliseconds. */
  readonly latencyMs: number;
  readonly lagMs: number;
  /** The most calls per second that may be made. */
  readonly most: number;
}
