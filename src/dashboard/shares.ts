import { steadyNow } from '../clock.ts';
import type { WorkerEntry } from '../cluster/entries.ts';
import { apiText } from '../domain.ts';

const memoryMs = 5_000;

interface Sample {
  readonly at: number;
  /** Calls of each worker since its start. */
  readonly calls: ReadonlyMap<string, number>;
}

/** Computes each worker's share of the calls in the last seconds. */
export class Shares {
  readonly #samples = new Map<string, Sample[]>();
  readonly #now: () => number;

  constructor(now = steadyNow) {
    this.#now = now;
  }

  /** @param workers of one API @returns shares of 1 by worker id; empty while there are no calls */
  of(workers: readonly WorkerEntry[]): ReadonlyMap<string, number> {
    const [first] = workers;
    if (first === undefined) return new Map();
    const [api, at] = [apiText(first), this.#now()];
    const kept = (this.#samples.get(api) ?? []).filter((sample) => at - sample.at <= memoryMs);
    const calls = new Map(workers.map(({ id, traffic }) => [id, traffic?.accepted ?? 0]));
    this.#samples.set(api, [...kept, { at, calls }]);
    const [oldest] = kept;
    if (oldest === undefined) return new Map();
    const made = [...calls].map(([id, now]) => [id, Math.max(0, now - (oldest.calls.get(id) ?? 0))] as const);
    const all = made.reduce((sum, [, count]) => sum + count, 0);
    return all === 0 ? new Map() : new Map(made.map(([id, count]) => [id, round(count / all)]));
  }
}

/** To whole percents: finer changes would trigger an update at each look. */
function round(share: number): number {
  return Math.round(share * 100) / 100;
}
