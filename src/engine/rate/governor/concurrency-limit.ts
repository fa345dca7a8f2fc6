import type { StatedLimit } from '../../api/limits.ts';
import { type Circumstances, ServerCap } from './server-cap.ts';
import type { Traffic } from './traffic.ts';

/** The most calls in flight are bounded because connections and memory are finite. */
export const usualConcurrency = 50;
export const mostConcurrency = 200;

/** A step lasts for a few calls, because the mean of fewer says little (50/s, calls of 1 s). */
const stepMs = 500;
const stepCalls = 10;
const longestStepMs = 5_000;
/** The usual latency is the shortest of this many steps: of a minute, or more where there are few calls (a server of 8 threads). */
const baselineSteps = 120;
/** Latency has risen when it exceeds the usual one by this factor and this time: less may come from this machine. */
const risenTimes = 2;
const risenByMs = 100;
/** Calls in flight may exceed by this factor what the rate needs at the usual latency. */
const spare = 1.2;
/** The slower the API, the more the limit falls in a step. */
const leastLowered = 0.9;
const mostLowered = 0.6;
const raised = 1.15;
const enough = 0.8;
const statedForMs = 120_000;

/**
 * Finds how many calls may be in flight: more, as long as all are used and the API does not get slower; fewer when it gets slower, down to
 * what the rate needs at the former latency; never more than the API accepts at once.
 */
export class ConcurrencyLimit {
  readonly #cap: ServerCap;
  #limit: number;
  #stated = Number.POSITIVE_INFINITY;
  #statedAt = Number.NEGATIVE_INFINITY;
  #latencies: number[] = [];
  #steppedAt: number;
  #calls = 0;
  #durationMs = 0;
  #busiest = 0;

  constructor(now: number, start = usualConcurrency) {
    this.#cap = new ServerCap(now);
    this.#limit = start;
    this.#steppedAt = now;
  }

  get limit(): number {
    return Math.max(1, Math.floor(Math.min(this.#limit, this.#stated, mostConcurrency)));
  }

  get capped(): boolean {
    return this.#cap.value !== undefined;
  }

  get isTrying(): boolean {
    return this.#cap.isTrying;
  }

  ruleOutFirst(): void {
    this.#cap.ruleOutFirst();
  }

  /** @returns whether calls were rejected because too many were in flight, not because of the rate */
  update(now: number, traffic: Traffic, circumstances: Omit<Circumstances, 'limit'>): boolean {
    this.#readStated(now, traffic.stated);
    this.#limit = this.#cap.update(now, traffic, { ...circumstances, limit: this.#limit });
    this.#calls += traffic.accepted;
    this.#durationMs += traffic.durationMs;
    this.#busiest = Math.max(this.#busiest, traffic.active);
    const passed = now - this.#steppedAt;
    if (passed >= longestStepMs || (passed >= stepMs && this.#calls >= stepCalls)) this.#step(now);
    return traffic.rejected > 0 && this.capped;
  }

  #readStated(now: number, stated: readonly StatedLimit[]): void {
    const quotas = stated.flatMap(({ unit, quota }) =>
      unit === 'concurrent-requests' && quota !== undefined ? [quota] : [],
    );
    if (quotas.length > 0) {
      this.#stated = Math.min(...quotas);
      this.#statedAt = now;
    } else if (now - this.#statedAt > statedForMs) this.#stated = Number.POSITIVE_INFINITY;
  }

  #step(now: number): void {
    const seconds = (now - this.#steppedAt) / 1_000;
    if (this.#calls > 0) this.#adapt(this.#durationMs / this.#calls, this.#calls / seconds);
    if (this.#cap.value !== undefined)
      this.#limit = Math.min(mostConcurrency, this.#cap.step(now, this.#limit));
    this.#steppedAt = now;
    this.#calls = 0;
    this.#durationMs = 0;
    this.#busiest = 0;
  }

  #adapt(latencyMs: number, perSecond: number): void {
    this.#latencies.push(latencyMs);
    if (this.#latencies.length > baselineSteps) this.#latencies.shift();
    const usualMs = Math.min(...this.#latencies);
    if (latencyMs > Math.max(risenTimes * usualMs, usualMs + risenByMs)) {
      const needed = (perSecond * usualMs * spare) / 1_000;
      const factor = Math.max(mostLowered, Math.min(leastLowered, (risenTimes * usualMs) / latencyMs));
      this.#limit = Math.max(2, needed, Math.min(this.#limit, this.#busiest) * factor);
    } else if (this.#cap.value === undefined && this.#busiest >= enough * this.limit) {
      this.#limit = Math.min(mostConcurrency, Math.max(this.#limit * raised, this.#limit + 1));
    }
  }
}
