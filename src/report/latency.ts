/** Durations below this, in milliseconds, are counted exactly. */
const exact = 128;

/** Longer ones are counted in this many steps for each doubling: at most 1.6 % off. */
const stepsPerDoubling = 64;

/** A little more than 49 days; longer durations count as this. */
const longest = 2 ** 32 - 1;

const buckets = exact + 25 * stepsPerDoubling;

/** Milliseconds that the given share of the durations did not exceed; whole numbers, `max` is exact. */
export interface LatencySummary {
  readonly p50: number;
  readonly p90: number;
  readonly p99: number;
  readonly max: number;
}

/** Counts durations in fixed memory (14 KB), however many there are. */
export class LatencyHistogram {
  readonly #counts = new Float64Array(buckets);
  #total = 0;
  #max = 0;

  /** `durationMs` is rounded; less than 0 counts as 0. */
  add(durationMs: number): void {
    const ms = Math.min(Math.max(Math.round(durationMs), 0), longest);
    const bucket = bucketOf(ms);
    this.#counts[bucket] = (this.#counts[bucket] ?? 0) + 1;
    this.#total++;
    if (ms > this.#max) this.#max = ms;
  }

  /** Undefined when nothing was counted. */
  summary(): LatencySummary | undefined {
    if (this.#total === 0) return undefined;
    return {
      p50: this.#percentile(0.5),
      p90: this.#percentile(0.9),
      p99: this.#percentile(0.99),
      max: this.#max,
    };
  }

  #percentile(share: number): number {
    let remaining = Math.ceil(this.#total * share);
    for (const [bucket, count] of this.#counts.entries()) {
      remaining -= count;
      if (remaining <= 0) return Math.min(upperBound(bucket), this.#max);
    }
    return this.#max;
  }
}

function bucketOf(ms: number): number {
  if (ms < exact) return ms;
  const doubling = 24 - Math.clz32(ms);
  return exact + doubling * stepsPerDoubling + Math.floor(ms / 2 ** (doubling + 1)) - stepsPerDoubling;
}

/** The longest duration that falls into the bucket. */
function upperBound(bucket: number): number {
  if (bucket < exact) return bucket;
  const doubling = Math.floor((bucket - exact) / stepsPerDoubling);
  const step = (bucket - exact) % stepsPerDoubling;
  return (stepsPerDoubling + step + 1) * 2 ** (doubling + 1) - 1;
}
