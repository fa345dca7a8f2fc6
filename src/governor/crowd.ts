import type { Traffic } from './traffic.ts';

export interface CrowdOptions {
  /** Calls in flight to begin with. */
  readonly start: number;
  /** The most that are ever allowed. */
  readonly most: number;
}

const stepMs = 500;
/** A latency counts as risen when it is twice the lowest of the last minute, and by so much: less may be this machine. */
const noticeableMs = 100;
const baselineSteps = 120;
/** What was accepted among how many is remembered for so long. */
const memoryMs = 10_000;
const tryMoreAfterMs = 15_000;
const tryMoreAgainMs = 2_000;
/** Refusals that are closer together have one reason. */
const apartMs = 500;
/** A cap that has to be lowered more often within the memory is none. */
const loweredAtMost = 2;
/** After a cap was suspected wrongly, none is for so long. */
const unsuspectingMs = 60_000;

/**
 * Finds how many calls may be in flight:
 *
 * - enough for the rate: more, as long as all of them are used and the API does not get slower;
 * - fewer when it does, down to what the rate needs at the latency it had before;
 * - never more than the API accepts at once. One that caps them refuses exactly those calls that are sent while many
 *   are in flight; one that limits the rate refuses some and accepts others among equally many.
 */
export class Crowd {
  readonly #most: number;
  #limit: number;
  /** The most that the API accepts at once, while that is what it refuses for. */
  #cap: number | undefined;
  /** The limit before a cap was suspected. */
  #before = 0;
  #suspicion: { readonly at: number; readonly among: number } | undefined;
  #cappedAt = 0;
  #lowered: number[] = [];
  #triedMoreAt = 0;
  #unsuspectingUntil = Number.NEGATIVE_INFINITY;
  #accepted: { readonly at: number; readonly among: number }[] = [];
  #unreliableUntil = Number.NEGATIVE_INFINITY;
  #latencyMs = 0;
  #latencies: number[] = [];
  #steppedAt: number;
  #calls = 0;
  #durationMs = 0;
  #busiest = 0;

  constructor(now: number, { start, most }: CrowdOptions) {
    this.#limit = Math.min(start, most);
    this.#most = most;
    this.#steppedAt = now;
  }

  /** Calls that may be in flight, at least 1. */
  get limit(): number {
    return Math.max(1, Math.floor(this.#limit));
  }

  /** Whether the API is known to accept only so many calls at once. */
  get capped(): boolean {
    return this.#cap !== undefined;
  }

  /** @returns whether calls were rejected because too many were in flight, and the rate has nothing to do with it. */
  update(now: number, traffic: Traffic): boolean {
    const { acceptedAmong, rejectedAmong } = traffic;
    const explained =
      traffic.rejected > 0 && rejectedAmong !== undefined && this.#explains(now, rejectedAmong, traffic.rejectedSentAt ?? now);
    // Rejected calls are in flight for a while, too, but the API does not count them.
    if (traffic.rejected > 0) this.#unreliableUntil = now + Math.max(200, 2 * this.#latencyMs);
    if (acceptedAmong !== undefined && now >= this.#unreliableUntil)
      this.#accepted.push({ at: now, among: acceptedAmong });
    while ((this.#accepted[0]?.at ?? now) < now - memoryMs) this.#accepted.shift();
    this.#calls += traffic.accepted;
    this.#durationMs += traffic.durationMs;
    this.#busiest = Math.max(this.#busiest, traffic.active);
    if (now - this.#steppedAt >= stepMs) this.#step(now);
    return explained;
  }

  #explains(now: number, among: number, sentAt: number): boolean {
    const cap = this.#cap;
    if (cap === undefined) {
      this.#suspect(now, among);
      return false;
    }
    if (among > cap && this.#limit > cap) {
      this.#limit = cap;
      this.#triedMoreAt = now;
      return true;
    }
    if (sentAt <= this.#cappedAt) return false;
    this.#lowered = this.#lowered.filter((at) => at > now - memoryMs);
    if (this.#lowered.length < loweredAtMost && among > 1) {
      this.#lowered.push(now);
      this.#capAt(among - 1, now);
      return false;
    }
    this.#cap = undefined;
    this.#limit = Math.max(this.#limit, this.#before);
    this.#unsuspectingUntil = now + unsuspectingMs;
    return false;
  }

  /** Two refusals at the same crowd, and none accepted among so many, are a cap. */
  #suspect(now: number, among: number): void {
    const most = this.#accepted.reduce((highest, accepted) => Math.max(highest, accepted.among), 0);
    if (now < this.#unsuspectingUntil || most === 0 || among <= most) {
      this.#suspicion = undefined;
      return;
    }
    const before = this.#suspicion;
    if (before !== undefined && now - before.at < apartMs) return;
    const alike = before !== undefined && Math.abs(before.among - among) <= Math.max(1, 0.1 * among);
    this.#suspicion = { at: now, among };
    if (alike) this.#capAt(Math.min(before.among, among) - 1, now);
  }

  #capAt(cap: number, now: number): void {
    if (this.#cap === undefined) this.#before = this.#limit;
    this.#cap = cap;
    this.#cappedAt = now;
    this.#limit = cap;
    this.#triedMoreAt = now;
  }

  #step(now: number): void {
    const seconds = (now - this.#steppedAt) / 1_000;
    if (this.#cap === undefined) this.#adapt(seconds);
    else if (now - this.#triedMoreAt >= tryMoreAfterMs) this.#tryMore(now, this.#cap);
    this.#steppedAt = now;
    this.#calls = 0;
    this.#durationMs = 0;
    this.#busiest = 0;
  }

  #adapt(seconds: number): void {
    if (this.#calls === 0) return;
    const latencyMs = this.#durationMs / this.#calls;
    this.#latencyMs = latencyMs;
    this.#latencies.push(latencyMs);
    if (this.#latencies.length > baselineSteps) this.#latencies.shift();
    const usualMs = Math.min(...this.#latencies);
    if (latencyMs > Math.max(2 * usualMs, usualMs + noticeableMs)) {
      const needed = ((this.#calls / seconds) * usualMs * 1.2) / 1_000;
      this.#limit = Math.max(2, needed, Math.min(this.#limit, this.#busiest) * 0.9);
    } else if (this.#busiest >= 0.8 * this.limit) {
      this.#limit = Math.min(this.#most, Math.max(this.#limit * 1.15, this.#limit + 1));
    }
  }

  #tryMore(now: number, cap: number): void {
    this.#triedMoreAt = now;
    if (this.#limit > cap) {
      // It went well so far: soon still more.
      this.#cap = this.limit;
      this.#triedMoreAt = now - tryMoreAfterMs + tryMoreAgainMs;
    }
    this.#limit = Math.min(this.#most, this.limit + Math.max(1, Math.floor(cap / 10)));
  }
}
