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
