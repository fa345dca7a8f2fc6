import type { LatencySeries } from './page-data.ts';

const mostStretches = 240;
/** Bounds of the classes of durations grow by a tenth: 1 ms to 3 min. */
const growth = 1.1;
const classes = 128;

/**
 * How long calls took over time, in fixed memory: durations by classes, in stretches of time that are joined two by two
 * when they become too many.
 */
export class LatencyOverTime {
  #stretchMs = 1_000;
  #slowestMs = 0;
  #stretches = new Map<number, Uint32Array>();

  /**
   * @param startedMs when a row's first attempt began, milliseconds since 1970
   * @param durationMs of its last attempt
   */
  add(startedMs: number, durationMs: number): void {
    this.#slowestMs = Math.max(this.#slowestMs, durationMs);
    const at = Math.floor(startedMs / this.#stretchMs);
    const known = this.#stretches.get(at);
    const counts = known ?? new Uint32Array(classes);
    const index = classOf(durationMs);
    counts[index] = (counts[index] ?? 0) + 1;
    if (known !== undefined) return;
    this.#stretches.set(at, counts);
    while (this.#span() > mostStretches) this.#join();
  }

  series(): LatencySeries {
    const first = Math.min(...this.#stretches.keys());
    const length = this.#stretches.size === 0 ? 0 : this.#span();
    const at = (share: number): readonly (number | null)[] =>
      Array.from({ length }, (_, index) => {
        const bound = percentile(this.#stretches.get(first + index), share);
        return bound === null ? null : Math.min(bound, this.#slowestMs);
      });
    return {
      from: length === 0 ? 0 : first * this.#stretchMs,
      stretchMs: this.#stretchMs,
      slowestMs: this.#slowestMs,
      p50: at(0.5),
      p90: at(0.9),
      p99: at(0.99),
    };
  }

  #span(): number {
    let [first, last] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY];
    for (const at of this.#stretches.keys()) {
      first = Math.min(first, at);
      last = Math.max(last, at);
    }
    return last - first + 1;
  }

  #join(): void {
    const joined = new Map<number, Uint32Array>();
    for (const [at, counts] of this.#stretches) {
      const half = Math.floor(at / 2);
      const other = joined.get(half);
      joined.set(
        half,
        other === undefined ? counts : other.map((count, index) => count + (counts[index] ?? 0)),
      );
    }
    this.#stretches = joined;
    this.#stretchMs *= 2;
  }
}

function classOf(durationMs: number): number {
  const index = Math.ceil(Math.log(Math.max(1, durationMs)) / Math.log(growth));
  return Math.min(classes - 1, index);
}

/** The upper bound of the class that has the percentile, rounded; null when nothing was counted. */
function percentile(counts: Uint32Array | undefined, share: number): number | null {
  if (counts === undefined) return null;
  const total = counts.reduce((sum, count) => sum + count, 0);
  let rank = Math.ceil(total * share);
  for (const [index, count] of counts.entries()) {
    rank -= count;
    if (rank <= 0) return Math.round(growth ** index);
  }
  return null;
}
