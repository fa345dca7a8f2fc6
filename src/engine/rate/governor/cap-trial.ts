import type { Traffic } from './traffic.ts';

/** The shortest trial, and the reactions by which it is longer. Longer trials lose calls (50/s, 500/s learned before). */
const trialMs = 1_000;
const trialReactions = 6;
/** The share of the usual calls that must be accepted (leaky-bucket:rate=50,queue=20 with `Retry-After`). */
const confirmed = 0.92;

/** Tests whether as many calls are accepted with fewer in flight. Only the second half counts. */
export class CapTrial {
  readonly usualRate: number;
  readonly #halfAt: number;
  readonly #endsAt: number;
  #countedFrom: number | undefined;
  #acceptedCalls = 0;

  constructor(now: number, usual: number, reactionMs: number) {
    this.usualRate = usual;
    this.#halfAt = now + (trialMs + trialReactions * reactionMs) / 2;
    this.#endsAt = now + trialMs + trialReactions * reactionMs;
  }

  /** @returns undefined while the trial continues */
  update(now: number, accepted: number): boolean | undefined {
    if (now < this.#halfAt) return undefined;
    if (this.#countedFrom === undefined) this.#countedFrom = now;
    else this.#acceptedCalls += accepted;
    const leftMs = Math.max(0, this.#endsAt - now);
    const usually = (ms: number) => (this.usualRate * ms) / 1_000;
    // Even the usual rate would not make up for what is missing.
    const isMissed =
      this.#acceptedCalls + usually(leftMs) < confirmed * usually(now + leftMs - this.#countedFrom);
    if (isMissed) return false;
    return leftMs > 0 || now === this.#countedFrom ? undefined : true;
  }
}

const memoryMs = 10_000;
const meanMs = 3_000;
/** Counts of calls in flight are unreliable for this long: a rejected call counts here, but not for the API. */
const uncountedMs = 200;

export class AcceptedCalls {
  #recentlyAccepted: { readonly at: number; readonly among: number }[] = [];
  #unreliableUntil = Number.NEGATIVE_INFINITY;
  #perSecond = 0;
  #updatedAt: number;

  constructor(now: number) {
    this.#updatedAt = now;
  }

  /** The most calls in flight among which one was accepted; 0 when nothing is known. */
  get mostInFlight(): number {
    return this.#recentlyAccepted.reduce((highest, { among }) => Math.max(highest, among), 0);
  }

  get perSecond(): number {
    return this.#perSecond;
  }

  update(now: number, { accepted, rejected, acceptedAmong }: Traffic, reactionMs: number): void {
    if (rejected > 0) this.#unreliableUntil = now + Math.max(uncountedMs, 2 * reactionMs);
    if (acceptedAmong !== undefined && now >= this.#unreliableUntil)
      this.#recentlyAccepted.push({ at: now, among: acceptedAmong });
    while ((this.#recentlyAccepted[0]?.at ?? now) < now - memoryMs) this.#recentlyAccepted.shift();
    const kept = Math.exp((this.#updatedAt - now) / meanMs);
    this.#perSecond = this.#perSecond * kept + (accepted * 1_000) / meanMs;
    this.#updatedAt = now;
  }
}
