import type { Traffic } from './traffic.ts';

const usualLatencyMs = 50;
/** Longer gaps between two updates say that the process was suspended, not how late news is. */
const longestGapMs = 1_000;
const smoothing = 0.2;

/** How long it takes until a decision shows in what is reported: the way there, a call, and the way back. */
export class Reaction {
  #latencyMs = usualLatencyMs;
  #gapMs = 0;
  #updatedAt: number;

  constructor(now: number) {
    this.#updatedAt = now;
  }

  update(now: number, { accepted, durationMs }: Traffic): void {
    if (accepted > 0) this.#latencyMs = durationMs / accepted;
    this.#gapMs += (Math.min(now - this.#updatedAt, longestGapMs) - this.#gapMs) * smoothing;
    this.#updatedAt = now;
  }

  /** Mean duration of a call of late, milliseconds. */
  get latencyMs(): number {
    return this.#latencyMs;
  }

  /** How long calls are still sent as was decided before, milliseconds. */
  get lagMs(): number {
    return this.#gapMs / 2;
  }

  /** Milliseconds until a decision shows. */
  get ms(): number {
    return this.#latencyMs + this.lagMs;
  }
}
