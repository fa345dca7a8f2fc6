import type { RowResult } from '../../../domain/row-result.ts';
import type { StretchedCalls } from './page-data.ts';

const mostStretches = 600;

/**
 * Counts the calls of one run over time, in fixed memory: when there are too many stretches of time, neighbors are joined. Several runs may
 * share the rate of an API, so that the log of the rate has the calls of all of them.
 */
export class CallsOverTime {
  #stretchMs = 1_000;
  #stretches = new Map<number, number>();

  /** Adds the calls that gave a row its result, but not those that the API rejected as too many, as in the log of the rate. */
  add({ attempts, code, finishedAt, durationMs = 0, earlier = [] }: RowResult): void {
    if (attempts === 0) return;
    if (code !== rejectedCode) this.#count(Date.parse(finishedAt ?? '') - durationMs, 1);
    for (const attempt of earlier)
      if (attempt.code !== rejectedCode) this.#count(Date.parse(attempt.at ?? ''), attempt.requests ?? 1);
  }

  calls(): StretchedCalls {
    const first = Math.min(...this.#stretches.keys());
    const last = Math.max(...this.#stretches.keys());
    if (this.#stretches.size === 0) return { from: 0, stretchMs: this.#stretchMs, calls: [] };
    const calls = Array.from(
      { length: last - first + 1 },
      (_, index) => this.#stretches.get(first + index) ?? 0,
    );
    return { from: first * this.#stretchMs, stretchMs: this.#stretchMs, calls };
  }

  #count(atMs: number, calls: number): void {
    if (Number.isNaN(atMs)) return;
    const at = Math.floor(atMs / this.#stretchMs);
    const known = this.#stretches.get(at);
    this.#stretches.set(at, (known ?? 0) + calls);
    if (known !== undefined) return;
    for (;;) {
      const places = [...this.#stretches.keys()];
      if (Math.max(...places) - Math.min(...places) < mostStretches) return;
      const joined = new Map<number, number>();
      for (const [place, sum] of this.#stretches)
        joined.set(Math.floor(place / 2), (joined.get(Math.floor(place / 2)) ?? 0) + sum);
      this.#stretches = joined;
      this.#stretchMs *= 2;
    }
  }
}

const rejectedCode = 'RESOURCE_EXHAUSTED';
