import type { SlotRequest } from '../cluster/timeline.ts';
import { type LateUse, mostLateMs } from './held-slots.ts';

/** How a worker takes slots from the timeline. */
export interface VisitTiming {
  /** How far ahead slots are taken, milliseconds. */
  readonly aheadMs: number;
  /** Time between two visits, milliseconds. It varies by up to three tenths, so that workers do not visit at the same time. */
  readonly visitMs: number;
  /** Time until the next visit after a visit that left calls waiting, milliseconds. */
  readonly soonMs: number;
  /** How many slots are given up when a call is refused. With several workers 0: they would use few windows of a second well. */
  readonly refusedGaps: 0 | 1;
  /**
   * The share of the calls ending before a slot for which a slot is taken. A slot that comes while all places are in use is
   * lost to all workers; a slot that was not taken is lost to a worker with few places.
   */
  readonly endsShare: number;
  /**
   * Slots that move from one worker to another are counted by neither: a worker that shares a rate uses slots late only when it
   * has lost many, and not all of them.
   */
  readonly lateUse: LateUse;
  /**
   * How far back slots are taken while calls wait, milliseconds: no other worker could have used slots that have just passed.
   */
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
 * The least time between two visits per worker that wants to call: it bounds how often all of them visit. 200 workers with one
 * place each visit often enough for 2,000 calls/s.
 */
const visitPerCallerMs = 0.5;
/**
 * With this many workers, each has few places, and the slots of a visit come sooner than calls end: a worker takes no more
 * slots than it has free places (of 2,000/s, 100 and 200 workers lose 5 and 6 % of the slots; 10 and 12 % otherwise).
 */
const crowd = 40;
/** The longest time between two visits: what a worker was permitted must last longer. */
const mostVisitMs = 1_000;
/**
 * The share of the time between two visits by which a visit is early or late, so that workers do not visit at the same time.
 */
const visitSpread = 0.3;
/** A visit without a reply for this long is lost. */
const lostMs = 250;
/** The time constant of the measured pace of this worker, milliseconds. */
const usedOverMs = 300;
/** While calls wait, this many times the recently used slots are asked for. */
const growth = 1.5;
const smoothing = 0.2;

/** What a worker asks of the timeline. */
export type Visit = Omit<SlotRequest, 'worker'>;

/** The situation of a worker. */
export interface WorkerSituation {
  /** Rows to call, and how many of them have a turn. */
  readonly uncalled: number;
  readonly reserved: number;
  /** Calls in flight, calls that may be in flight, and the user's number of calls. */
  readonly active: number;
  readonly places: number;
  readonly wanted: number;
  /** Slots held, and whether slots are needed. */
  readonly slots: number;
  readonly isRateKept: boolean;
  /** How long before its slot the intent of a row is written. */
  readonly leadMs: number;
  /** Since when there has been something that may be called. */
  readonly readySince: number;
}

/** Decides when a worker visits the timeline, and how many slots it asks for: as many as it can use until the next visit. */
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

  /** A call is over. */
  ended(durationMs: number): void {
    this.#latencyMs ??= durationMs;
    this.#latencyMs += (durationMs - this.#latencyMs) * smoothing;
  }

  /** Records how many slots this worker could use at this time. */
  used(now: number, slots: number): void {
    const weight = Math.exp(-(now - this.#usedAt) / usedOverMs);
    this.#usedPerMs = this.#usedPerMs * weight + slots / usedOverMs;
    this.#usedAt = now;
  }

  /**
   * Records the reply to a visit.
   *
   * @param granted number of slots
   * @returns whether it is the latest: the reply to a later visit may have come first
   */
  replied(sentAt: number, now: number, granted: number): boolean {
    // The reply time of a frozen worker does not count: it would otherwise take slots too far ahead.
    this.#replyMs += (Math.min(now - sentAt, lostMs) - this.#replyMs) * smoothing;
    if (sentAt < this.#repliedTo) return false;
    this.#repliedTo = sentAt;
    this.#isVisiting = false;
    this.#wasGranted = granted > 0;
    return true;
  }

  /** Workers that want to call, as the timeline knew them at the last visit. */
  callers = 0;

  /** Whether the timeline knows that this worker has nothing to call. */
  get hasLeft(): boolean {
    return this.#sentNeed === 0;
  }

  /** How far ahead slots are taken, milliseconds: farther when the replies of the timeline take longer. */
  aheadMs(leadMs: number): number {
    const { aheadMs, visitMs } = this.#timing;
    return leadMs + Math.max(aheadMs, (1 + visitSpread) * visitMs + 2 * this.#replyMs);
  }

  /** When to visit the timeline; infinite when nothing is to be called and the timeline knows it. */
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

  /** @returns what to ask of the timeline, if a visit is due */
  next(now: number, situation: WorkerSituation): Visit | undefined {
    const visitAt = this.nextAt(situation);
    if (now < visitAt) return undefined;
    const { uncalled, active, wanted, slots, leadMs, readySince } = situation;
    const { pastMs: mostPastMs } = this.#timing;
    const need = Math.min(wanted, active + uncalled);
    this.#sentNeed = need;
    this.#visitedAt = now;
    this.#isVisiting = true;
    // The visit is late because this process did not run.
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

  /** Slots for calls that can be made in time: more would be lost to all workers. */
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
