import type { Traffic } from './traffic.ts';

const usualLatencyMs = 50;
/** Longer gaps between two updates say that the process was suspended, not how late news is. */
const longestGapMs = 1_000;
const smoothing = 0.2;
/**
 * Several workers hear of a decision that much later, and have taken slots before (three of them, windows of a second; a
 * limit that drops to a fifth).
 */
const heardLateMs = 100;

/** How long it takes until a decision shows in what is reported: the way there, a call, and the way back. */
export class Reaction {
  #latencyMs = usualLatencyMs;
  #gapMs = 0;
  #othersMs = 0;
  #updatedAt: number;

  constructor(now: number) {
    this.#updatedAt = now;
  }

  update(now: number, { accepted, durationMs, amongError = 1 }: Traffic): void {
    this.#othersMs = amongError > 1 ? heardLateMs : 0;
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
    return this.#gapMs / 2 + this.#othersMs;
  }

  /** Milliseconds until a decision shows. */
  get ms(): number {
    return this.#latencyMs + this.lagMs;
  }
}
