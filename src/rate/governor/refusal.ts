import type { Cycle } from './gains.ts';

/** A refusal, with what is known of the calls before it. */
export interface Refusal {
  /** Calls that were sent per second when it happened. */
  readonly sending: number;
  /** What the API had accepted since the refusal before. */
  readonly cycle: Cycle | undefined;
  /** Whether the API asks to wait. */
  readonly isCostly: boolean;
}

/** A rate that the limit is not below, and one that was too much; calls per second. */
export interface Bracket {
  readonly held: number;
  readonly failed: number;
}

/** What is concluded from refusals. */
export interface Conclusions {
  /** A probe was refused. It had used up what gathered while less was used: the rate at its end is far above the limit. */
  ofProbe(before: Bracket, refusal: Refusal): Bracket;
  /** A search was refused. */
  ofSearch(held: number | undefined, refusal: Refusal): Bracket;
  /** A rate was refused after it was held for so long. */
  ofHold(held: number, refusal: Refusal, heldMs: number): Bracket;
}
