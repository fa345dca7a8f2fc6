/** Timers are late by a millisecond or two. */
const leastGraceMs = 3;
/** Within that a slot is not late. A quarter of the gap is for what comes between here and the network. */
const graceGaps = 0.75;
/** No slot can be used for longer. */
export const mostLateMs = 100;
const windowMs = 1_000;
/** A rate that was lowered by less shows in the next slots. */
const noticeable = 1.1;

/** When a slot may be used late, by the calls and the slots of a worker in the last second. */
export interface LateUse {
  /** Only while its calls were fewer than that share of its slots. */
  readonly below: number;
  /** For a second after that, its calls are no more than that share of its slots. */
  readonly upTo: number;
}

interface Slot {
  readonly at: number;
  readonly gap: number;
}

/**
 * The slots that a worker has taken and not used yet, by the steady clock.
 *
 * A busy process comes late to some of them. It may still use them: what it was late with goes out at once. For a second
 * after that, it makes no more calls in any second than it had slots in that second, or than a share of them.
 */
export class HeldSlots {
  #slots: Slot[] = [];
  /** The slots of the last second that are used or given up, and when calls have used some. */
  readonly #spent: number[] = [];
  readonly #calls: number[] = [];
  readonly #lateUse: LateUse;
  #lateAt = Number.NEGATIVE_INFINITY;

  constructor(lateUse: LateUse) {
    this.#lateUse = lateUse;
  }

  get count(): number {
    return this.#slots.length;
  }

  /** When the slot with that index can be used, as far as is known; infinite: there are not so many. */
  at(index: number): number {
    return this.#slots[index]?.at ?? Number.POSITIVE_INFINITY;
  }

  /** When the first one can be used. */
  nextAt(now: number): number {
    if (!this.#isFull(now)) return this.at(0);
    return Math.min(this.at(this.countUntil(now)), (this.#calls[0] ?? 0) + windowMs);
  }

  /** How many can be used by then. */
  countUntil(time: number): number {
    const later = this.#slots.findIndex(({ at }) => at > time);
    return later < 0 ? this.count : later;
  }

  add(from: number, gap: number, count: number): void {
    for (let index = 0; index < count; index += 1) this.#slots.push({ at: from + index * gap, gap });
    // Where the rate was raised, the new slots lie between those that were taken before.
    this.#slots.sort((a, b) => a.at - b.at);
  }

  /** Gives up what is over, and what lies before the end of a rest. @returns how many */
  drop(now: number, restUntil: number): number {
    const { calls, slots } = this.#lastSecond(now);
    const mayBeLate = calls < this.#lateUse.below * slots;
    const isOver = ({ at, gap }: Slot): boolean =>
      at < now - (mayBeLate ? mostLateMs : graceMs(gap)) || at < restUntil;
    const kept = this.#slots.findIndex((slot) => !isOver(slot));
    const dropped = this.#slots.splice(0, kept < 0 ? this.count : kept);
    this.#spent.push(...dropped.filter(({ at }) => at <= now).map(({ at }) => at));
    return dropped.length;
  }

  /** Uses the first slot. @returns whether its time has come */
  use(now: number): boolean {
    const [first] = this.#slots;
    if (first === undefined || first.at > now || this.#isFull(now)) return false;
    if (first.at < now - graceMs(first.gap)) this.#lateAt = now;
    this.#slots.shift();
    this.#spent.push(first.at);
    this.#calls.push(now);
    return true;
  }

  /** Keeps as many slots as a lower rate has. */
  thinOut(gap: number): void {
    let credit = 1;
    this.#slots = this.#slots.flatMap((slot) => {
      if (gap <= slot.gap * noticeable) return [slot];
      credit += slot.gap / gap;
      if (credit < 1) return [];
      credit -= 1;
      return [{ at: slot.at, gap }];
    });
  }

  clear(): void {
    this.#slots = [];
  }

  /** Whether late calls of the last second leave no room for one now. */
  #isFull(now: number): boolean {
    if (this.#lateAt <= now - windowMs) return false;
    const { calls, slots } = this.#lastSecond(now);
    return calls >= this.#lateUse.upTo * slots;
  }

  /** Calls, and slots, of the last second. */
  #lastSecond(now: number): { readonly calls: number; readonly slots: number } {
    forget(this.#spent, now - windowMs);
    forget(this.#calls, now - windowMs);
    return { calls: this.#calls.length, slots: this.#spent.length + this.countUntil(now) };
  }
}

function graceMs(gap: number): number {
  return Math.max(leastGraceMs, Math.min(graceGaps * gap, mostLateMs));
}

/** Removes what is not later than that. */
function forget(times: number[], until: number): void {
  const kept = times.findIndex((time) => time > until);
  times.splice(0, kept < 0 ? times.length : kept);
}
