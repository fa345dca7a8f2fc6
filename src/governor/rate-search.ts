import { Drought } from './drought.ts';
import { type Gain, Gains } from './gains.ts';
import { approached, growth } from './growth.ts';
import type { Phase } from './pace.ts';
import { ProbeSchedule } from './probe-schedule.ts';
import { type Cut, Settling } from './settling.ts';
import { Tally } from './tally.ts';

/** What a search is told, in time order. Times are milliseconds that never go back. */
export interface RateNews {
  readonly now: number;
  readonly accepted: number;
  readonly rejected: number;
  /** When the latest of the rejected calls was sent. */
  readonly rejectedSentAt?: number | undefined;
  /** Whether the API says that nothing is left of what it allows. */
  readonly exhausted: boolean;
  /** Until when the API has asked to wait; 0 if it never has. */
  readonly waitUntil: number;
  /** Until when no call was to be made, for any reason. */
  readonly restUntil: number;
  /** Mean duration of a call, and for how long calls are still sent as was decided before, milliseconds. */
  readonly latencyMs: number;
  readonly lagMs: number;
  /** The most calls per second that may be made. */
  readonly most: number;
}

/** Calls per second to begin with when nothing is known. */
const firstRate = 20;
/** Tests whether a drought is over are single calls. */
const testRate = 1;
const slowestRate = 1 / 300;
const fastestRate = 1_000_000;
/** The rate that failed last is approached so near, in such a time (of an exponential). */
const nearFailed = 0.985;
const approachSeconds = 5;
/** What is held may come up to a rate that proved fine in such a time. */
const provenSeconds = 4;
/** A search between a rate that was fine and one that was not takes so long. */
const searchSeconds = 2.5;
/** At the beginning the rate doubles in such a time, or in that of so many reactions. */
const doublingSeconds = 0.5;
const doublingReactions = 4;
/** Only a rate of which such a part is used tells anything, and rises. */
const inUse = 0.6;
/** Below what is held, after a refusal, so that some allowance gathers; a wait has let it gather already. */
const belowHeld = 0.9;
const belowHeldAfterWait = 0.98;
/** An API that asks to wait for longer has used up an allowance for a longer window. */
const longWaitMs = 3_000;
/** By how much more a quota is used to see whether it has risen. */
const quotaProbe = 1.1;
/** What was held for so long can't be far from fine. */
const heldSoMs = 5_000;
/** Phases in which the rate rises, if only a little. */
const growing: ReadonlySet<Phase> = new Set(['starting', 'searching', 'holding', 'probing']);

const reasons = {
  unknown: 'looking for the limit of the API',
  learned: 'the limit found before',
  refused: 'calls were refused',
  held: 'just under the limit',
  probe: 'testing whether the limit has risen',
  risen: 'the limit has risen',
  dry: 'every call is refused',
  told: 'the API asks to wait',
  over: 'the API accepts calls again',
  stated: 'the limit that the API has stated',
  crowd: 'the API limits the calls in flight',
} as const;

/**
 * Finds the rate that an API permits from nothing but which calls it accepts and which it refuses. Its states are
 * documented above `Governor`. A rate of which little is used neither rises nor tells anything.
 */
export class RateSearch {
  #phase: Phase = 'starting';
  #reason: string = reasons.unknown;
  #rate = firstRate;
  /** A rate that the limit is not below, as far as is known. */
  #hold: number | undefined;
  /** What was held before it was lifted. */
  #lifted: number | undefined;
  /** The lowest rate that was too much, of late. */
  #failed: number | undefined;
  /** The rate with which this phase began. */
  #base = firstRate;
  /** For how long the rate has been used in this phase. */
  #usedMs = 0;
  #restUntil = 0;
  #settling: Settling | undefined;
  /** Whether to look for the limit above the present rate once it has settled. */
  #searchNext = false;
  #updatedAt: number;
  readonly #tally = new Tally();
  readonly #gains = new Gains();
  readonly #probes: ProbeSchedule;
  readonly #drought: Drought;

  /** @param learned calls per second that an earlier search held. */
  constructor(now: number, learned?: number) {
    this.#updatedAt = now;
    this.#drought = new Drought(now);
    this.#probes = new ProbeSchedule(learned !== undefined);
    if (learned !== undefined) this.#know(learned, reasons.learned);
  }

  get phase(): Phase {
    return this.#phase;
  }

  /** Why the rate is as it is, for people. */
  get reason(): string {
    return this.#reason;
  }

  /** Calls per second. */
  get rate(): number {
    return this.#phase === 'waiting' ? Math.min(this.#rate, testRate) : this.#rate;
  }

  /** Until when no call is to be made. */
  get restUntil(): number {
    return this.#restUntil;
  }

  /** The limit in calls per second, once it is known. */
  get limit(): number | undefined {
    return this.#hold;
  }

  /** Calls that are sent per second. */
  get sentPerSecond(): number {
    return this.#tally.sentPerSecond;
  }

  update(news: RateNews): void {
    const { now, waitUntil } = news;
    const passedMs = now - this.#updatedAt;
    const restedMs = this.#overlap(now, Math.max(news.restUntil, waitUntil));
    this.#tally.count(news, passedMs - restedMs, this.#rate);
    this.#tally.waited(this.#overlap(now, waitUntil));
    this.#updatedAt = now;
    if (this.#phase === 'settling' && restedMs > 0) this.#settling?.rested(now, restedMs);
    this.#judge(news, restedMs === passedMs && passedMs > 0);
    if (news.rejected > 0 || news.exhausted) this.#tally.markEmpty(now);
    if (restedMs < passedMs) this.#advance(news, passedMs - restedMs);
    this.#rate = Math.min(Math.max(this.#rate, slowestRate), fastestRate, news.most);
  }

  /** What was refused had other reasons: looks anew, from the present rate on. */
  lift(): void {
    this.#lifted = this.#hold;
    this.#hold = undefined;
    this.#enter('starting', reasons.crowd);
  }

  /** It had not: back to what was known. */
  fall(): void {
    if (this.#lifted !== undefined && this.#phase !== 'waiting') this.#know(this.#lifted, reasons.held);
    this.#lifted = undefined;
  }

  /** The API itself has said what it permits. */
  follow(rate: number): void {
    if (this.#phase === 'waiting') return;
    this.#know(rate, reasons.stated);
    this.#rate = rate;
  }

  /** The API asks to wait from the beginning on, or nothing can be accepted for another reason. */
  wait(now: number, waitUntil: number): void {
    this.#drought.begin(now);
    this.#enter('waiting', waitUntil > now ? reasons.told : reasons.dry);
    this.#testFailed(now, waitUntil);
  }

  /** How much of the time since the last update was before that time. */
  #overlap(now: number, until: number): number {
    return Math.max(0, Math.min(now, until) - this.#updatedAt);
  }

  #know(rate: number, reason: string): void {
    this.#hold = rate;
    this.#failed = rate * 1.02;
    this.#rate = rate * belowHeld;
    if (this.#phase !== 'holding') this.#enter('holding', reason);
    this.#reason = reason;
  }

  #enter(phase: Phase, reason: string): void {
    this.#phase = phase;
    this.#reason = reason;
    this.#base = this.#rate;
    this.#usedMs = 0;
  }

  #judge(news: RateNews, resting: boolean): void {
    const { now, accepted, rejected, rejectedSentAt = now, exhausted } = news;
    const isNews = rejectedSentAt > (this.#settling?.knownUntil ?? 0);
    if (rejected > 0 && isNews) this.#refused(news);
    else if (exhausted && growing.has(this.#phase)) this.#lower(news);
    else if (this.#phase === 'waiting' && accepted > 0 && !resting) this.#droughtEnded(now);
  }

  #refused(news: RateNews): void {
    const { now, waitUntil, rejected } = news;
    if (this.#phase === 'waiting') {
      if (now >= this.#restUntil) this.#testFailed(now, waitUntil);
    } else if (waitUntil - now > longWaitMs) this.wait(now, waitUntil);
    else if (this.#phase === 'settling') this.#settling?.refused(now, rejected);
    else this.#lower(news);
  }

  /** The limit is below the present rate: back to one that is fine, as far as is known. */
  #lower(news: RateNews): void {
    const { now, waitUntil, latencyMs } = news;
    const cycle = this.#tally.cycle(now);
    const gain = cycle && this.#gains.add(cycle);
    const sending = Math.min(this.#rate, this.#tally.sentPerSecond * 1.2 || this.#rate);
    const waitMs = Math.max(0, waitUntil - now);
    if (this.#phase === 'starting') {
      this.#hold = undefined;
      this.#failed = sending;
      this.#searchNext = true;
      this.#gains.forget();
      this.#cut(news, { rate: sending / 2, restMs: 1.5 * latencyMs });
    } else {
      if (this.#phase === 'probing') this.#probes.failed(waitMs);
      const fine = this.#fine(sending);
      this.#hold = Math.min(Math.max(fine, gain?.perSecond ?? 0), sending);
      this.#failed = Math.min(sending, Math.max(this.#tooMuch(sending, gain), this.#hold * 1.01));
      this.#searchNext = false;
      this.#cut(news, { rate: this.#hold * (waitMs > 500 ? belowHeldAfterWait : belowHeld) });
    }
    this.#enter('settling', reasons.refused);
  }

  /** A rate that is fine although the present one was refused. */
  #fine(sending: number): number {
    const held = this.#hold ?? 0;
    switch (this.#phase) {
      case 'probing':
        return held;
      case 'holding':
        return held * (this.#usedMs < heldSoMs ? 0.85 : 0.95);
      default:
        return Math.max(held, sending * 0.8);
    }
  }

  /** The lowest rate that is too much as far as is known now. */
  #tooMuch(sending: number, gain: Gain | undefined): number {
    // A probe uses up what has gathered while less than the limit was used: it is far above when it is refused.
    if (this.#phase === 'probing') return (this.#failed ?? 0) * 1.03;
    return this.#phase === 'holding' ? (gain?.atMost ?? sending) : sending;
  }

  #cut({ now, latencyMs, lagMs }: RateNews, cut: Pick<Cut, 'rate' | 'restMs'>): void {
    this.#rate = cut.rate;
    this.#settling = new Settling(now, this.#tally, { ...cut, latencyMs, lagMs });
    this.#restUntil = this.#settling.restUntil;
  }

  #advance(news: RateNews, passedMs: number): void {
    const { latencyMs, lagMs, most } = news;
    if (this.#phase === 'settling') return this.#settle(news);
    if (this.#phase === 'waiting') return;
    if (this.#tally.sentPerSecond < inUse * this.#rate || this.#rate >= most) return;
    this.#usedMs += passedMs;
    const seconds = passedMs / 1_000;
    switch (this.#phase) {
      case 'starting': {
        const doubling = Math.max(doublingSeconds, (doublingReactions * (latencyMs + lagMs)) / 1_000);
        this.#rate *= 2 ** (seconds / doubling);
        return;
      }
      case 'searching':
        return this.#search(this.#usedMs / 1_000);
      case 'holding':
        return this.#approach(seconds);
      case 'probing':
        return this.#probe();
      default:
        return;
    }
  }

  #settle(news: RateNews): void {
    const { now, waitUntil, latencyMs } = news;
    switch (this.#settling?.verdict(now)) {
      case 'dry':
        return this.wait(now, waitUntil);
      case 'too-fast': {
        const measured = this.#settling.acceptedPerSecond(now);
        const rate = measured === undefined ? this.#rate / 2 : 0.85 * measured;
        this.#failed = Math.min(this.#failed ?? this.#rate, this.#rate);
        this.#hold = undefined;
        this.#searchNext = true;
        this.#gains.forget();
        return this.#cut(news, {
          rate: Math.min(Math.max(rate, this.#rate / 8), this.#rate * 0.7),
          restMs: 1.5 * latencyMs,
        });
      }
      case 'settled':
        return this.#searchNext
          ? this.#enter('searching', reasons.unknown)
          : this.#enter('holding', reasons.held);
      default:
        return;
    }
  }

  #search(seconds: number): void {
    const failed = Math.max(this.#base, this.#failed ?? this.#base);
    this.#rate =
      seconds <= searchSeconds
        ? this.#base + (failed - this.#base) * (seconds / searchSeconds)
        : failed * growth(seconds - searchSeconds);
  }

  #approach(seconds: number): void {
    const hold = this.#hold ?? this.#rate;
    if (this.#rate > hold) this.#hold = approached(hold, this.#rate, seconds, provenSeconds);
    const goal = Math.max(hold, (this.#failed ?? 0) * nearFailed);
    this.#rate = approached(Math.max(this.#rate, hold), goal, seconds, approachSeconds);
    if (this.#probes.isDue(this.#usedMs, this.#rate)) this.#enter('probing', reasons.probe);
  }

  #probe(): void {
    const { periodMs } = this.#drought;
    // An allowance for a window lasts for a while at any rate: it has risen when more is accepted than it held.
    this.#rate = this.#base * (periodMs === undefined ? growth(this.#usedMs / 1_000) : quotaProbe);
    const hasRisen = periodMs === undefined ? this.#rate > 2 * this.#base : this.#usedMs > 2 * periodMs;
    if (!hasRisen) return;
    this.#enter('starting', reasons.risen);
    this.#probes.reset();
    this.#drought.forget();
  }

  #testFailed(now: number, waitUntil: number): void {
    this.#restUntil = waitUntil > now ? waitUntil : this.#drought.nextTest(now);
  }

  #droughtEnded(now: number): void {
    const { perSecond, lastedMs } = this.#drought.end(now, this.#tally.accepted);
    if (lastedMs >= longWaitMs) this.#probes.dry(lastedMs);
    if (perSecond !== undefined) {
      this.#hold = perSecond;
      this.#failed = perSecond;
      this.#rate = perSecond;
      this.#enter('holding', reasons.over);
    } else if (this.#hold !== undefined && lastedMs >= longWaitMs) {
      this.#rate = this.#hold * belowHeld;
      this.#enter('holding', reasons.over);
    } else {
      this.#hold = undefined;
      this.#rate /= 2;
      this.#enter(this.#failed === undefined ? 'starting' : 'searching', reasons.over);
    }
  }
}
