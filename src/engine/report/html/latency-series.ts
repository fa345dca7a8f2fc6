import { LatencyHistogram } from '../latency.ts';
import type { LatencySeries } from './page-data.ts';

const mostStretches = 240;

interface Stretch {
  readonly latency: LatencyHistogram;
  failed: number;
}

/** Collects latencies over time in fixed memory: when there are too many stretches of time, neighbors are joined. */
export class LatencyOverTime {
  #stretchMs = 1_000;
  #stretches = new Map<number, Stretch>();

  /**
   * Adds the result of a row.
   *
   * @param startedMs start of the row's first attempt, since 1970
   * @param durationMs of its last attempt
   */
  add(startedMs: number, durationMs: number, isFailed: boolean): void {
    const at = Math.floor(startedMs / this.#stretchMs);
    const existing = this.#stretches.get(at);
    const stretch = existing ?? { latency: new LatencyHistogram(1), failed: 0 };
    stretch.latency.add(durationMs);
    if (isFailed) stretch.failed++;
    if (existing !== undefined) return;
    this.#stretches.set(at, stretch);
    while (this.#span.length > mostStretches) this.#join();
  }

  series(): LatencySeries {
    const { first, length } = this.#span;
    const known = Array.from({ length }, (_, index) => this.#stretches.get(first + index));
    const stretches = known.map((stretch) => stretch?.latency.summary());
    return {
      from: first * this.#stretchMs,
      stretchMs: this.#stretchMs,
      p50: stretches.map((stretch) => stretch?.p50 ?? null),
      p90: stretches.map((stretch) => stretch?.p90 ?? null),
      p99: stretches.map((stretch) => stretch?.p99 ?? null),
      failed: known.map((stretch) => stretch?.failed ?? 0),
    };
  }

  get #span(): { readonly first: number; readonly length: number } {
    if (this.#stretches.size === 0) return { first: 0, length: 0 };
    const first = Math.min(...this.#stretches.keys());
    return { first, length: Math.max(...this.#stretches.keys()) - first + 1 };
  }

  #join(): void {
    const joined = new Map<number, Stretch>();
    for (const [at, { latency, failed }] of this.#stretches) {
      const half = Math.floor(at / 2);
      const other = joined.get(half);
      joined.set(half, {
        latency: other?.latency.join(latency) ?? latency,
        failed: failed + (other?.failed ?? 0),
      });
    }
    this.#stretches = joined;
    this.#stretchMs *= 2;
  }
}
