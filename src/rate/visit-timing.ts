import { type LateUse, mostLateMs } from './held-slots.ts';

/** How a worker takes slots from the timeline. */
export interface VisitTiming {
  /** How far ahead slots are taken, milliseconds. */
  readonly aheadMs: number;
  /** From one visit to the next; by up to three tenths of it sooner or later, so that workers do not come together. */
  readonly visitMs: number;
  /** After a visit that left calls waiting. */
  readonly soonMs: number;
  /** Slots that are given up when a call is refused: few windows of a second are used well by several workers otherwise. */
  readonly refusedGaps: 0 | 1;
  /**
   * The share of the calls that end before a slot for which one is taken: a slot that comes while all places are in use is
   * lost, to others too; one that was not taken is lost to who has few places.
   */
  readonly endsShare: number;
  /**
   * Slots that go from one worker to another are counted by neither: who shares a rate uses slots late only when it has lost
   * many, and not all of them.
   */
  readonly lateUse: LateUse;
  /** While calls wait, slots that have just passed are taken, too: nobody else could have used them. Milliseconds. */
  readonly pastMs: number;
}

/** On a timeline of this process a visit costs nothing, and a rate that changes shows at once. */
export const ownTiming: VisitTiming = {
  aheadMs: 20,
  visitMs: 10,
  soonMs: 2,
  refusedGaps: 1,
  endsShare: 1,
  lateUse: { below: 1, upTo: 1, isShared: false },
  pastMs: mostLateMs,
};
/** On one in Redis: some ten visits a second. */
export const sharedTiming: VisitTiming = {
  aheadMs: 100,
  visitMs: 50,
  soonMs: 15,
  refusedGaps: 0,
  endsShare: 0.5,
  lateUse: { below: 0.5, upTo: 0.9, isShared: true },
  pastMs: 0,
};
