/** The result of a round. */
export interface RoundResult {
  /** What the round did, and how that ended. */
  readonly line: string;
  /** The promises that were broken; empty when all were kept. */
  readonly violations: readonly string[];
  /** Everything that happened, with seconds since the start. */
  readonly story: readonly string[];
  /** The folder with all files of the round, if a promise was broken. */
  readonly kept: string;
}
