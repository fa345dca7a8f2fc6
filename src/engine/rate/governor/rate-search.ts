import type { Phase } from '../../../domain/pace.ts';
import { KnownRates, type RefusedRate } from './known-rates.ts';
import { fastestRate, firstRate, inUse, reasons, slowestRate } from './pace-reasons.ts';
import { ProbeSchedule } from './probe-backoff.ts';
import { longWaitMs, QuotaExhaustion } from './quota-exhaustion.ts';
import {
  Cooldown,
  cutDeep,
  cutToSustained,
  probingGrowth,
  searchedRate,
  startingGrowth,
} from './rate-changes.ts';
import { CallTally, type RateInput } from './traffic.ts';

/** Calls/s that test whether calls are accepted again. */
const testRate = 1;
/** A search near the accepted rate begins below it and rises above it. */
const below = 0.8;
const above = 1.5;
/** The factor by which a rate may exceed its mean at a moment. */
const aboveMean = 1.2;
/** A probe exceeds a quota by this factor, for this many of its windows. */
const quotaProbe = 1.1;
const quotaWindows = 2;

export type SearchedRate = Pick<RateSearch, 'rate' | 'limit' | 'isWaiting'>;

/** Finds the rate that an API permits only from what it accepts and refuses. Its phases: see `Governor`. */
export class RateSearch {
  #phase: Exclude<Phase, 'stated'> = 'starting';
  #reason: string = reasons.unknown;
  #rate = firstRate;
  #base = firstRate;
  #usedMs = 0;
  #restUntil = 0;
  #isEndStated = false;
  /** The last rows were refused in this window, although it seemed to have enough calls (600 a sliding minute). */
  #isLastRefused = false;
  #updatedAt: number;
  readonly #known = new KnownRates();
  readonly #tally = new CallTally();
  readonly #probes: ProbeSchedule;
  readonly #exhaustion: QuotaExhaustion;
  #cooldown: Cooldown | undefined;
  #beforeSuspicion: { readonly sustained: number | undefined; readonly sending: number } | undefined;

  /** @param learned calls/s that an earlier search sustained */
  constructor(now: number, learned?: number) {
    this.#updatedAt = now;
    this.#exhaustion = new QuotaExhaustion(now);
    this.#probes = new ProbeSchedule(learned !== undefined);
    if (learned !== undefined) this.#hold(learned, reasons.learned);
  }

  searchNear(accepted: number): void {
    this.#known.begin(accepted * above);
    this.#rate = accepted * below;
    this.#enter('searching', reasons.unknown);
  }

  goBack(): void {
    const { sustainedRate } = this.#known;
    if (sustainedRate !== undefined && this.#phase !== 'waiting')
      this.#hold(sustainedRate, reasons.justUnder);
  }

  get phase(): Phase {
    return this.#phase;
  }

  get reason(): string {
    return this.#reason;
  }

  /** Calls/s. */
  get rate(): number {
    return this.#phase === 'waiting' ? Math.min(this.#rate, testRate) : this.#rate;
  }

  get restUntil(): number {
    return this.#restUntil;
  }

  /** Single calls test if any is accepted. */
  get isWaiting(): boolean {
    return this.#phase === 'waiting';
  }

  /** Calls/s, once known. */
  get limit(): number | undefined {
    return this.#known.sustainedRate;
  }

  get used(): number {
    return this.#tally.usedShareOf(this.#rate) * this.#rate;
  }

  /** While the rate rises, more than the recent mean. */
  get sentPerSecond(): number {
    return Math.min(this.#rate, this.#tally.sentPerSecond * aboveMean || this.#rate);
  }

  update(input: RateInput): void {
    const { now, waitUntil } = input;
    const since = this.#updatedAt;
    const overlap = (until: number) => Math.max(0, Math.min(now, until) - since);
    const usedMs = now - since - overlap(Math.max(input.restUntil, waitUntil));
    this.#updatedAt = now;
    this.#tally.count(input, usedMs, this.#rate);
    this.#tally.countAside(input.acceptedAside);
    this.#tally.waited(overlap(waitUntil));
    const isExhausted = this.#isExhausted(input);
    if (input.rejected > 0) this.#noteRefusal(input);
    else if (isExhausted) this.#lower(input);
    else if (this.#phase === 'waiting' && input.accepted > 0 && usedMs > 0) this.#recovered(now);
    if (input.rejected > 0 || isExhausted) this.#tally.markEmpty(now);
    const isEnough =
      input.rows <= this.#exhaustion.remainingCalls(now, this.#tally.acceptedCalls) - input.callsInFlight;
    const isSustained = this.#phase === 'holding' || this.#phase === 'probing';
    if (isSustained && isEnough && !this.#isLastRefused) this.#enter('starting', reasons.last);
    if (this.#phase === 'cooldown') this.#coolDown(input, since);
    else if (usedMs > 0) this.#advance(input, usedMs);
    this.#rate = Math.min(Math.max(this.#rate, slowestRate), fastestRate, input.mostPerSecond);
  }

  /** Starts a new search at the present rate. */
  suspectCap(): void {
    // At the start, a rate sustained before does not count.
    const sustained = this.#phase === 'starting' ? undefined : this.#known.sustainedRate;
    this.#beforeSuspicion = { sustained, sending: this.sentPerSecond };
    this.#known.forget();
    this.#enter('starting', reasons.capped);
  }

  /** Goes back to what was known, or below the refused rate. */
  trustCap(input: RateInput): void {
    const before = this.#beforeSuspicion;
    this.#beforeSuspicion = undefined;
    this.#tally.forgetEmpty();
    if (before === undefined || this.#phase === 'waiting') return;
    if (before.sustained !== undefined) {
      this.#known.learn(before.sustained);
      // Refusals because of calls in flight are irrelevant to the sustained rate.
      this.#cut(input, cutToSustained(before.sustained, 0));
      this.#enter('cooldown', reasons.justUnder);
      return;
    }
    // Continue the cooldown after the refusal that revealed the limit.
    if (this.#phase !== 'starting') return;
    this.#known.begin(before.sending);
    this.#rate = cutDeep(before.sending);
    this.#enter('searching', reasons.refused);
  }

  follow(rate: number): void {
    if (this.#phase === 'waiting') return;
    if (this.#phase === 'holding') this.#known.learn(rate);
    else this.#hold(rate, reasons.stated);
    this.#rate = rate;
  }

  /** Nothing is accepted until then. Afterwards, or if unknown, single calls test. */
  wait(now: number, until: number): void {
    this.#exhaustion.begin(now);
    this.#isEndStated = until > now;
    this.#enter('waiting', until > now ? reasons.asked : reasons.dry);
    this.#testFailed(now, until);
  }

  #hold(rate: number, reason: string): void {
    this.#known.learn(rate);
    this.#rate = cutToSustained(rate, 0);
    this.#enter('holding', reason);
  }

  #enter(phase: Exclude<Phase, 'stated'>, reason: string): void {
    this.#phase = phase;
    this.#reason = reason;
    this.#base = this.#rate;
    this.#usedMs = 0;
  }

  /** The API says that it will refuse the next calls. A sustained rate may use up all that remains. */
  #isExhausted({ remaining, callsInFlight }: RateInput): boolean {
    if (remaining === undefined || this.#phase === 'cooldown' || this.#phase === 'waiting') return false;
    return this.#phase === 'holding' ? remaining === 0 : remaining < Math.max(1, callsInFlight);
  }

  #noteRefusal(input: RateInput): void {
    const { now, waitUntil } = input;
    this.#probes.noteRefusal();
    if (this.#phase === 'waiting') {
      if (now >= this.#restUntil) this.#testFailed(now, waitUntil, now - input.latencyMs - 2 * input.lagMs);
    } else if (waitUntil - now > longWaitMs) this.wait(now, waitUntil);
    else if (this.#phase !== 'cooldown') this.#lower(input);
  }

  #lower(input: RateInput): void {
    const { now, waitUntil } = input;
    const waitMs = Math.max(0, waitUntil - now);
    const { sentPerSecond } = this;
    if (this.#phase === 'probing') this.#probes.noteFailedProbe(waitMs);
    const isLast = this.#phase === 'starting' && this.#reason === reasons.last;
    this.#isLastRefused ||= isLast;
    const refusal = { sentPerSecond, cycle: this.#tally.cycle(now), isCostly: waitMs > 0 };
    const rate = isLast && !this.#isEndStated ? this.#known.sustainedRate : this.#lowered(refusal);
    if (rate !== undefined) this.#cut(input, cutToSustained(rate, waitMs));
    else this.#cutDeep(input, sentPerSecond);
    this.#enter('cooldown', reasons.refused);
  }

  #lowered(refusal: RefusedRate): number | undefined {
    if (this.#phase === 'probing') return this.#known.probeFailed(refusal);
    if (this.#phase === 'holding') return this.#known.holdFailed(refusal, this.#usedMs);
    return this.#phase === 'searching' ? this.#known.searchFailed(refusal) : undefined;
  }

  #cut(input: RateInput, rate: number, restMs = 0): void {
    this.#rate = rate;
    this.#cooldown = new Cooldown(input.now, { ...input, rate, restMs });
    this.#restUntil = this.#cooldown.restUntil;
  }

  /** Searches below, and sends nothing until the calls in flight have reported. */
  #cutDeep(input: RateInput, rate: number): void {
    this.#known.begin(rate);
    this.#cut(input, cutDeep(rate), 1.5 * input.latencyMs + 2 * input.lagMs);
  }

  #coolDown(input: RateInput, since: number): void {
    const { now, waitUntil } = input;
    const verdict = this.#cooldown?.update({ ...input, since });
    if (verdict === 'enough') {
      if (this.#known.sustainedRate === undefined) this.#enter('searching', reasons.unknown);
      else this.#enter('holding', reasons.justUnder);
      return;
    }
    // The sustained rate is the quota of a longer window, spread over it: only the window is used up.
    const isUsedUp = this.#exhaustion.periodMs !== undefined && this.#known.sustainedRate !== undefined;
    if (verdict === 'dry' || (verdict === 'too-fast' && isUsedUp)) this.wait(now, waitUntil);
    else if (verdict === 'too-fast') this.#cutDeep(input, this.#rate);
  }

  #advance({ latencyMs, lagMs, mostPerSecond }: RateInput, passedMs: number): void {
    if (this.#phase === 'waiting' || this.#rate >= mostPerSecond) return;
    if (this.#tally.usedShareOf(this.#rate) < inUse) return;
    this.#usedMs += passedMs;
    const seconds = passedMs / 1_000;
    const reactionMs = latencyMs + lagMs;
    if (this.#phase === 'starting') this.#rate *= startingGrowth(seconds, reactionMs);
    else if (this.#phase === 'searching') {
      const failed = Math.max(this.#base, this.#known.failedRate ?? this.#base);
      this.#rate = searchedRate(this.#base, failed, this.#usedMs / 1_000, reactionMs);
    } else if (this.#phase === 'probing') this.#probe(reactionMs);
    else if (this.#phase === 'holding') {
      this.#rate = this.#known.approach(this.#rate, seconds);
      if (this.#probes.isDue(this.#usedMs, this.#rate)) this.#enter('probing', reasons.probe);
    }
  }

  #probe(reactionMs: number): void {
    const { periodMs } = this.#exhaustion;
    // A window's allowance lasts for a while at any rate: it has risen when more than the quota is accepted.
    const factor = periodMs === undefined ? probingGrowth(this.#usedMs / 1_000, reactionMs) : quotaProbe;
    this.#rate = this.#base * factor;
    if (periodMs === undefined ? factor < 2 : this.#usedMs < quotaWindows * periodMs) return;
    this.#enter('starting', reasons.risen);
    this.#probes.noteRisenLimit();
    this.#exhaustion.forget();
  }

  #testFailed(now: number, waitUntil: number, sentAt = now): void {
    const isStated = waitUntil > now;
    if (isStated) this.#exhaustion.statedEnd(waitUntil);
    this.#restUntil = isStated ? waitUntil : this.#exhaustion.nextTest(now, sentAt);
  }

  #recovered(now: number): void {
    const { perSecond, lastedMs } = this.#exhaustion.end(now, this.#tally.acceptedCalls);
    const isWindow = lastedMs >= longWaitMs || this.#exhaustion.periodMs !== undefined;
    const rate = perSecond ?? (isWindow ? (this.#known.sustainedRate ?? this.#rate / 2) : undefined);
    if (perSecond !== undefined) this.#probes.noteUsedWindow(lastedMs);
    this.#isLastRefused = false;
    if (rate !== undefined) this.#hold(rate, reasons.over);
    else {
      this.#known.forget();
      this.#rate /= 2;
      this.#enter(this.#known.failedRate === undefined ? 'starting' : 'searching', reasons.over);
    }
  }
}
