import type { SlotRequest } from '../cluster/timeline.ts';
import { type LateUse, mostLateMs } from './held-slots.ts';

export interface VisitTiming {
  /** How far ahead slots are taken, ms. */
  readonly aheadMs: number;
  /** Between two visits, ms; varies by up to three tenths, so that workers do not visit together. */
  readonly visitMs: number;
  /** After a visit that left calls waiting, ms. */
  readonly soonMs: number;
  /** Slots given up when a call is refused. With several workers 0: they would use few windows of a second well. */
  readonly refusedGaps: 0 | 1;
  /**
   * For this share of the calls ending before a slot, a slot is taken. A slot that comes while all places are in use is lost to all
   * workers; one that was not taken, to a worker with few places.
   */
  readonly endsShare: number;
  /**
   * Slots that move between workers are counted by neither: a worker that shares a rate uses slots late only when it has lost many, and not
   * all of them.
   */
  readonly lateUse: LateUse;
  /** How far back slots are taken while calls wait, ms: no other worker could have used slots that have just passed. */
  readonly pastMs: number;
}

/** For a timeline in this process: a visit costs nothing, and a change of rate shows at once. */
export const ownTiming: VisitTiming = {
  aheadMs: 20,
  visitMs: 10,
  soonMs: 2,
  refusedGaps: 1,
  endsShare: 1,
  lateUse: { below: 1, upTo: 1, isShared: false },
  pastMs: mostLateMs,
};
/** For a timeline in Redis: about ten visits a second. */
export const sharedTiming: VisitTiming = {
  aheadMs: 100,
  visitMs: 50,
  soonMs: 15,
  refusedGaps: 0,
  endsShare: 0.5,
  lateUse: { below: 0.5, upTo: 0.9, isShared: true },
  pastMs: 0,
};

/**
 * The least time between two visits, for each worker that wants to call: bounds how often all of them visit. 200 workers with one place
 * each visit often enough for 2,000 calls/s.
 */
const visitPerCallerMs = 0.5;
/**
 * With this many workers, each has few places, and slots come sooner than calls end: a worker takes no more slots than it has free places
 * (of 2,000/s, 100 and 200 workers lose 5 and 6 % of the slots; 10 and 12 % otherwise).
 */
const crowd = 40;
/** What a worker was permitted must last longer. */
const mostVisitMs = 1_000;
/** The share by which a visit is early or late, so that workers do not visit together. */
const visitSpread = 0.3;
/** A visit without a reply for this long is lost. */
const lostMs = 250;
/** Time constant of this worker's measured pace. */
const usedOverMs = 300;
/** While calls wait, this many times the recently used slots are asked for. */
const growth = 1.5;
const smoothing = 0.2;

export type Visit = Omit<SlotRequest, 'worker'>;

export interface WorkerSituation {
  /** Rows to call, and how many of them have a turn. */
  readonly uncalled: number;
  readonly reserved: number;
  /** Calls in flight, places, and the user's number of calls. */
  readonly active: number;
  readonly places: number;
  readonly wanted: number;
  readonly slots: number;
  readonly isRateKept: boolean;
  /** How long before its slot an intent is written. */
  readonly leadMs: number;
  readonly readySince: number;
}

/** Decides when a worker visits the timeline, and for how many slots: as many as it can use until the next visit. */
export class TimelineVisits {
  readonly #timing: VisitTiming;
  readonly #random: () => number;
  #visitedAt = Number.NEGATIVE_INFINITY;
  #isVisiting = false;
  #wasGranted = false;
  #repliedTo = Number.NEGATIVE_INFINITY;
  #spread = 1;
  #sentNeed = 0;
  #replyMs = 0;
  #latencyMs: number | undefined;
  #usedPerMs = 0;
  #usedAt = 0;

  constructor(timing: VisitTiming, random: () => number) {
    this.#timing = timing;
    this.#random = random;
  }

  ended(durationMs: number): void {
    this.#latencyMs ??= durationMs;
    this.#latencyMs += (durationMs - this.#latencyMs) * smoothing;
  }

  used(now: number, slots: number): void {
    const weight = Math.exp(-(now - this.#usedAt) / usedOverMs);
    this.#usedPerMs = this.#usedPerMs * weight + slots / usedOverMs;
    this.#usedAt = now;
  }

  /**
   * @param granted number of slots
   * @returns whether it is the latest: the reply to a later visit may have come first
   */
  replied(sentAt: number, now: number, granted: number): boolean {
    // A frozen worker's reply time does not count: slots would be taken too far ahead.
    this.#replyMs += (Math.min(now - sentAt, lostMs) - this.#replyMs) * smoothing;
    if (sentAt < this.#repliedTo) return false;
    this.#repliedTo = sentAt;
    this.#isVisiting = false;
    this.#wasGranted = granted > 0;
    return true;
  }

  /** Workers that want to call, as of the last visit. */
  callers = 0;

  /** The timeline knows that this worker has nothing to call. */
  get hasLeft(): boolean {
    return this.#sentNeed === 0;
  }

  /** Farther when replies of the timeline take longer. */
  aheadMs(leadMs: number): number {
    const { aheadMs, visitMs } = this.#timing;
    return leadMs + Math.max(aheadMs, (1 + visitSpread) * visitMs + 2 * this.#replyMs);
  }

  /** Infinite when nothing is to be called and the timeline knows it. */
  nextAt({ uncalled, reserved, active, places, slots, isRateKept }: WorkerSituation): number {
    if (this.#isVisiting) return this.#visitedAt + lostMs;
    if (uncalled === 0 && active === 0 && this.#sentNeed === 0) return Number.POSITIVE_INFINITY;
    const lacksSlots = isRateKept && this.#wasGranted && slots < uncalled && slots <= reserved;
    const isStarved = uncalled > 0 && (places === 0 || this.#sentNeed === 0 || lacksSlots);
    const afterMs = isStarved ? this.#timing.soonMs : this.#timing.visitMs * this.#spread;
    // A worker whose first row arrives is not kept waiting by the others.
    const leastMs = this.#sentNeed === 0 ? 0 : this.callers * visitPerCallerMs * this.#spread;
    return this.#visitedAt + Math.max(afterMs, Math.min(leastMs, mostVisitMs));
  }

  /** @returns what to ask, if a visit is due */
  next(now: number, situation: WorkerSituation): Visit | undefined {
    const visitAt = this.nextAt(situation);
    if (now < visitAt) return undefined;
    const { uncalled, active, wanted, slots, leadMs, readySince } = situation;
    const { pastMs: mostPastMs } = this.#timing;
    const need = Math.min(wanted, active + uncalled);
    this.#sentNeed = need;
    this.#visitedAt = now;
    this.#isVisiting = true;
    // Late because this process did not run.
    const pastMs = Math.min(mostPastMs, now - Math.max(visitAt, readySince));
    this.#spread = 1 - visitSpread + 2 * visitSpread * this.#random();
    return {
      want: this.#want(situation),
      held: slots,
      need,
      active,
      aheadMs: this.aheadMs(leadMs),
      leadInMs: pastMs > 0 ? -pastMs : this.#replyMs + leadMs,
    };
  }

  /** Slots for calls that can be made in time: more slots would be lost to all workers. */
  #want({ uncalled, active, places, slots, leadMs }: WorkerSituation): number {
    const aheadMs = this.aheadMs(leadMs);
    const free = Math.max(0, places - active);
    const ends = this.#latencyMs === undefined ? 0 : (places * aheadMs) / Math.max(this.#latencyMs, 1);
    const usable = free + ends * this.#timing.endsShare;
    const used = this.#usedPerMs * aheadMs;
    const demand = uncalled > 0 ? Math.max(uncalled, Math.ceil(used * growth)) : Math.ceil(used);
    const most = this.callers > crowd ? Math.max(free, Math.min(usable, 1)) : usable;
    return Math.max(0, Math.min(Math.floor(most), demand) - slots);
  }
}
