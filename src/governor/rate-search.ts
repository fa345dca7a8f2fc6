import type { Phase } from './pace.ts';
import { Drought } from './drought.ts';

/** What a rate search is told, in time order. */
export interface RateNews {
  /** Milliseconds; never goes back. */
  readonly now: number;
  readonly accepted: number;
  readonly rejected: number;
  /** When the latest of the rejected calls was sent. */
  readonly rejectedSentAt?: number;
  /** Until when the API asks to wait. */
  readonly waitUntil?: number;
  /** Whether the API says that nothing is left of what it allows. */
  readonly exhausted?: boolean;
  /** Mean duration of a call, milliseconds. */
  readonly latencyMs: number;
  /** The most calls per second that are allowed. */
  readonly bound?: number | undefined;
}

interface Mark {
  readonly at: number;
  readonly accepted: number;
  /** How long the API had asked to wait by then, all in all. */
  readonly waitedMs: number;
}

/** Calls per second to begin with when nothing is known. */
const startRate = 20;
const slowestRate = 1 / 300;
const fastestRate = 1_000_000;
/** How far below the rate that failed last it is approached, and in what time (of an exponential). */
const approach = 0.985;
const approachSeconds = 5;
/** Phases in which the rate rises, if only a little. */
const growing: ReadonlySet<Phase> = new Set(['starting', 'searching', 'holding', 'probing']);
const usualProbeAfterMs = 14_000;
/** A probe that fails costs the time that the API then asks to wait: it is made less often while nothing changes. */
const rarestWaitedProbeMs = 40_000;
/** An API that asks to wait for longer has used up an allowance for a longer window. */
const longWaitMs = 3_000;
const searchSeconds = 2.5;
const rarestProbeMs = 600_000;

export class RateSearch {
  phase: Phase = 'starting';
  reason = 'looking for the limit of the API';
  rate: number;
  restUntil = 0;
  #waitUntil = 0;
  #waitedMs = 0;
  /** A rate that the limit is not below, as far as is known. */
  #hold: number | undefined;
  /** A rate that was too much. */
  #failed = 0;
  #base = 0;
  #since: number;
  #cutAt = Number.NEGATIVE_INFINITY;
  #settledAt = 0;
  #accepted = 0;
  #latencyMs = 0;
  /** The latest refusal: the allowance was used up. */
  #empty: Mark | undefined;
  #settling: Mark = { at: 0, accepted: 0, waitedMs: 0 };
  #refusedSinceCut = 0;
  /** Whether to look for the limit above the present rate once it has settled. */
  #search = false;
  #beforeWaiting = 0;
  #probeAfterMs = usualProbeAfterMs;
  readonly #drought: Drought;
  #recent: { at: number; sent: number }[] = [];
  #lastNow: number;

  constructor(now: number, learned?: number) {
    this.#since = now;
    this.#lastNow = now;
    this.#drought = new Drought(now);
    this.rate = startRate;
    if (learned !== undefined) {
      this.#hold = learned;
      this.#failed = learned * 1.02;
      this.rate = learned * 0.9;
      this.phase = 'holding';
      this.reason = 'the limit found before';
    }
  }

  /** The limit in calls per second, once it is known. */
  get limit(): number | undefined {
    return this.#hold;
  }

  update(news: RateNews): void {
    const { now } = news;
    this.#accepted += news.accepted;
    this.#latencyMs = news.latencyMs;
    this.#recent.push({ at: now, sent: news.accepted + news.rejected });
    const memoryMs = Math.max(1_000, 20_000 / this.rate);
    while ((this.#recent[0]?.at ?? now) < now - memoryMs) this.#recent.shift();
    const resting = now < Math.max(this.restUntil, this.#waitUntil);
    if (news.waitUntil !== undefined) this.#waitUntil = Math.max(this.#waitUntil, news.waitUntil);
    // Calls that were under way when the rate was lowered say nothing new.
    if (news.rejected > 0 && (news.rejectedSentAt ?? now) > this.#cutAt) this.#refused(now, news);
    else if (news.exhausted && growing.has(this.phase)) this.#refused(now, news);
    else if (this.phase === 'waiting' && news.accepted > 0 && !resting) this.#droughtEnded(now);
    if (news.rejected > 0 || news.exhausted) this.#empty = this.#mark(now);
    const passed = now - this.#lastNow;
    if (now < this.#waitUntil) this.#waitedMs += passed;
    if (resting && this.phase !== 'settling') this.#since += passed;
    else this.#advance(now, passed / 1_000);
    this.#lastNow = now;
    this.rate = Math.min(Math.max(this.rate, slowestRate), news.bound ?? fastestRate);
  }

  /** What was refused had other reasons: looks anew, from the present rate on. */
  lift(now: number): void {
    this.#hold = undefined;
    this.#enter('starting', now, 'the API limits the calls in flight');
  }

  #enter(phase: Phase, now: number, reason: string): void {
    this.phase = phase;
    this.#since = now;
    this.reason = reason;
  }

  #refused(now: number, { rejected, waitUntil }: RateNews): void {
    if (this.phase === 'waiting') return this.#testFailed(now, waitUntil);
    if (waitUntil !== undefined && waitUntil - now > longWaitMs) return this.#wait(now, waitUntil);
    if (this.phase === 'settling') {
      // What was sent before the rest is back by its end.
      if (now < this.restUntil) return;
      this.#refusedSinceCut += rejected;
      const accepted = this.#accepted - this.#settling.accepted;
      if (this.#refusedSinceCut >= 3 && accepted === 0) this.#wait(now, waitUntil);
      return;
    }
    const estimate = this.#estimate(now);
    const sending = Math.min(this.rate, this.#sentPerSecond(now) * 1.2 || this.rate);
    this.#search = false;
    const hold = this.#hold ?? 0;
    switch (this.phase) {
      case 'probing':
        this.#hold = Math.min(Math.max(hold, estimate ?? 0), sending);
        this.#failed = Math.min(sending, Math.max(this.#failed * 1.03, this.#hold * 1.01));
        this.#cut(this.#hold * 0.9, now);
        break;
      case 'holding':
        this.#failed = sending;
        this.#hold = Math.min(Math.max(hold * 0.95, estimate ?? 0), sending);
        this.#cut(this.#hold * 0.9, now);
        break;
      case 'searching':
        this.#failed = sending;
        this.#hold = Math.min(Math.max(hold, estimate ?? 0, sending * 0.8), sending);
        this.#cut(this.#hold * 0.9, now);
        break;
      default:
        this.#failed = sending;
        this.#hold = undefined;
        this.#search = true;
        this.#cut(sending / 2, now, 1.5 * this.#latencyMs);
    }
    if (this.phase === 'probing' && waitUntil !== undefined)
      this.#probeAfterMs = Math.max(this.#probeAfterMs, Math.min(this.#probeAfterMs * 1.3, rarestWaitedProbeMs));
    this.#enter('settling', now, 'calls were refused');
  }

  #mark(now: number): Mark {
    return { at: now, accepted: this.#accepted, waitedMs: this.#waitedMs };
  }

  /** Lowers the rate, and lets some allowance gather first. */
  #cut(rate: number, now: number, restMs = 0): void {
    this.rate = rate;
    this.restUntil = now + Math.min(Math.max(3_000 / rate, restMs, 50), 2_000);
    this.#cutAt = now;
    this.#settledAt = now + Math.max(400, 2 * this.#latencyMs, 4_000 / rate);
    this.#settling = this.#mark(now);
    this.#refusedSinceCut = 0;
  }

  #settled(now: number): void {
    const accepted = this.#accepted - this.#settling.accepted;
    const refused = this.#refusedSinceCut;
    if (refused > 1 && refused > 0.1 * accepted) {
      this.#failed = Math.min(this.#failed, this.rate);
      this.#hold = undefined;
      this.#search = true;
      const seconds = (now - this.#settling.at) / 1_000;
      const measured = accepted >= 4 ? (0.85 * accepted) / seconds : this.rate / 2;
      this.#cut(Math.min(Math.max(measured, this.rate / 8), this.rate * 0.7), now, 1.5 * this.#latencyMs);
      return;
    }
    if (this.#search) {
      this.#base = this.rate;
      this.#enter('searching', now, 'looking for the limit of the API');
    } else {
      this.#enter('holding', now, 'just under the limit');
    }
  }

  #wait(now: number, until: number | undefined): void {
    this.#beforeWaiting = this.rate;
    this.#enter('waiting', now, until === undefined ? 'every call is refused' : 'the API asks to wait');
    this.#drought.begin(now, this.#accepted);
    this.#testFailed(now, until);
  }

  #testFailed(now: number, until: number | undefined): void {
    const at = until ?? this.#drought.nextTest(now);
    this.restUntil = at;
    this.rate = 1;
    this.#cutAt = now;
  }

  #droughtEnded(now: number): void {
    const { perSecond, lastedMs } = this.#drought.end(now, this.#accepted);
    if (lastedMs >= longWaitMs)
      this.#probeAfterMs = Math.min(Math.max(this.#probeAfterMs * 2, 3 * lastedMs), rarestProbeMs);
    if (perSecond !== undefined) {
      this.#hold = perSecond;
      this.#failed = perSecond;
      this.rate = perSecond;
      this.#enter('holding', now, 'the API accepts calls again');
    } else if (this.#hold !== undefined) {
      this.rate = this.#hold * 0.9;
      this.#enter('holding', now, 'the API accepts calls again');
    } else {
      this.#base = Math.min(this.#beforeWaiting, this.#failed) / 2;
      this.#enter('searching', now, 'the API accepts calls again');
    }
  }

  #probe(now: number, elapsed: number): void {
    const { periodMs } = this.#drought;
    if (periodMs === undefined) {
      this.rate = this.#base * growth(elapsed);
      if (this.rate > 2 * this.#base) this.#risen(now);
      return;
    }
    // An allowance for a window lasts for a while at any rate: it has risen when more is accepted than it held.
    this.rate = this.#base * quotaProbe;
    if (elapsed * 1_000 > 2 * periodMs) this.#risen(now);
  }

  #risen(now: number): void {
    this.#enter('starting', now, 'the limit has risen');
    this.#probeAfterMs = usualProbeAfterMs;
    this.#drought.forget();
  }

  /** What the API has accepted per second since the refusal before this one. */
  #estimate(now: number): number | undefined {
    if (this.#empty === undefined) return undefined;
    const passed = now - this.#empty.at;
    // While the API asks to wait, a small allowance is full at once and gains nothing more.
    const waited = this.#waitedMs - this.#empty.waitedMs;
    const seconds = (passed - (waited < passed / 2 ? waited : 0)) / 1_000;
    const accepted = this.#accepted - this.#empty.accepted;
    return seconds < 1 || accepted < 2 ? undefined : accepted / seconds;
  }

  #sentPerSecond(now: number): number {
    const first = this.#recent[0];
    if (first === undefined) return 0;
    const seconds = Math.max(0.25, (now - first.at) / 1_000);
    return this.#recent.slice(1).reduce((sum, { sent }) => sum + sent, 0) / seconds;
  }

  #advance(now: number, dt: number): void {
    const elapsed = (now - this.#since) / 1_000;
    switch (this.phase) {
      case 'starting': {
        const doubling = Math.max(0.5, (4 * this.#latencyMs) / 1_000);
        if (this.#sentPerSecond(now) > 0.6 * this.rate) this.rate *= 2 ** (dt / doubling);
        return;
      }
      case 'settling':
        if (now < Math.max(this.restUntil, this.#waitUntil)) {
          this.#settledAt += dt * 1_000;
          this.#settling = this.#mark(now);
          return;
        }
        if (now >= this.#settledAt) this.#settled(now);
        return;
      case 'searching':
        this.rate =
          elapsed <= searchSeconds
            ? this.#base + (this.#failed - this.#base) * (elapsed / searchSeconds)
            : Math.max(this.#base, this.#failed) * growth(elapsed - searchSeconds);
        return;
      case 'holding': {
        const goal = Math.max(this.#hold ?? 0, this.#failed * approach);
        if (this.#hold !== undefined && this.rate > this.#hold) this.#hold += (this.rate - this.#hold) * Math.min(1, dt / 4);
        const from = Math.max(this.rate, this.#hold ?? this.rate);
        this.rate = from + (goal - from) * Math.min(1, dt / approachSeconds);
        if (now - this.#since < Math.max(this.#probeAfterMs, 150_000 / this.rate)) return;
        this.#base = this.rate;
        this.#enter('probing', now, 'testing whether the limit has risen');
        return;
      }
      case 'probing':
        return this.#probe(now, elapsed);
      default:
        return;
    }
  }
}

const quotaProbe = 1.1;

/** Slow at first, so that a limit that is where it was refuses little; then doubling. */
function growth(seconds: number): number {
  return seconds < 4.5 ? 1 + 0.05 * seconds ** 2 : 2 * 2 ** ((seconds - 4.5) / 1.5);
}
