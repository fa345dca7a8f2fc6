import type { Traffic } from './traffic.ts';

/** What was accepted among how many is remembered for so long. */
const memoryMs = 10_000;
/** Calls accepted per second are a mean of so long. */
const meanMs = 3_000;
/** Calls that were rejected are in flight for a while, too, but the API does not count them. */
const uncountedMs = 200;

/** What was accepted of late. */
export class CrowdMemory {
  #accepted: { readonly at: number; readonly among: number }[] = [];
  #unreliableUntil = Number.NEGATIVE_INFINITY;
  #perSecond = 0;
  #updatedAt: number;

  constructor(now: number) {
    this.#updatedAt = now;
  }

  /** The most calls in flight among which one was accepted; 0 when nothing is known. */
  get most(): number {
    return this.#accepted.reduce((highest, { among }) => Math.max(highest, among), 0);
  }

  /** Calls that were accepted per second. */
  get perSecond(): number {
    return this.#perSecond;
  }

  update(now: number, { accepted, rejected, acceptedAmong }: Traffic, reactionMs: number): void {
    if (rejected > 0) this.#unreliableUntil = now + Math.max(uncountedMs, 2 * reactionMs);
    if (acceptedAmong !== undefined && now >= this.#unreliableUntil)
      this.#accepted.push({ at: now, among: acceptedAmong });
    while ((this.#accepted[0]?.at ?? now) < now - memoryMs) this.#accepted.shift();
    const kept = Math.exp((this.#updatedAt - now) / meanMs);
    this.#perSecond = this.#perSecond * kept + (accepted * 1_000) / meanMs;
    this.#updatedAt = now;
  }
}
