/** What a round says when it is over. */
export interface RoundResult {
  /** What it did, and how that ended. */
  readonly line: string;
  /** The promises that were broken; empty when all were kept. */
  readonly violations: readonly string[];
  /** All that happened, with seconds since the beginning. */
  readonly story: readonly string[];
  /** The folder with all files of the round, if a promise was broken. */
  readonly kept: string;
}
