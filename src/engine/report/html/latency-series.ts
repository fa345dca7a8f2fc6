import { LatencyHistogram } from '../latency.ts';
import type { LatencySeries } from './page-data.ts';

const mostStretches = 240;

/** Latency over time in fixed memory: when there are too many stretches of time, neighbors are joined in pairs. */
export class LatencyOverTime {
  #stretchMs = 1_000;
  #stretches = new Map<number, LatencyHistogram>();

  /**
   * @param startedMs start of a row's first attempt, in milliseconds since 1970
   * @param durationMs duration of its last attempt
   */
  add(startedMs: number, durationMs: number): void {
    const at = Math.floor(startedMs / this.#stretchMs);
    const existing = this.#stretches.get(at);
    const stretch = existing ?? new LatencyHistogram(1);
    stretch.add(durationMs);
    if (existing !== undefined) return;
    this.#stretches.set(at, stretch);
    while (this.#span.length > mostStretches) this.#join();
  }

  series(): LatencySeries {
    const { first, length } = this.#span;
    const stretches = Array.from({ length }, (_, index) => this.#stretches.get(first + index)?.summary());
    return {
      from: first * this.#stretchMs,
      stretchMs: this.#stretchMs,
      p50: stretches.map((stretch) => stretch?.p50 ?? null),
      p90: stretches.map((stretch) => stretch?.p90 ?? null),
      p99: stretches.map((stretch) => stretch?.p99 ?? null),
    };
  }

  get #span(): { readonly first: number; readonly length: number } {
    if (this.#stretches.size === 0) return { first: 0, length: 0 };
    const first = Math.min(...this.#stretches.keys());
    return { first, length: Math.max(...this.#stretches.keys()) - first + 1 };
  }

  #join(): void {
    const joined = new Map<number, LatencyHistogram>();
    for (const [at, stretch] of this.#stretches) {
      const half = Math.floor(at / 2);
      joined.set(half, joined.get(half)?.join(stretch) ?? stretch);
    }
    this.#stretches = joined;
    this.#stretchMs *= 2;
  }
}
