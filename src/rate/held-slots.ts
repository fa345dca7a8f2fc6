/** Timers are late by a millisecond or two. */
const leastGraceMs = 3;
/** An event loop is busy for so long at times, and where a rate permits it no slot is lost by that. */
const usualGraceMs = 10;
/** A rate of a few calls per second need not lose a slot because a row came a little late. */
const mostGraceMs = 100;
/** A rate that was lowered by less shows in the next slots. */
const noticeable = 1.1;

interface Slot {
  readonly at: number;
  readonly gap: number;
}

/** The slots that a worker has taken and not used yet, by the steady clock. */
export class HeldSlots {
  #slots: Slot[] = [];

  get count(): number {
    return this.#slots.length;
  }

  /** When the slot with that index can be used; infinite: there are not so many. */
  at(index: number): number {
    return this.#slots[index]?.at ?? Number.POSITIVE_INFINITY;
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
    const before = this.count;
    const isOver = ({ at, gap }: Slot): boolean => at < now - graceMs(gap) || at < restUntil;
    const first = this.#slots.findIndex((slot) => !isOver(slot));
    if (first !== 0) this.#slots = first < 0 ? [] : this.#slots.slice(first);
    return before - this.count;
  }

  /** Uses the first slot. @returns whether its time has come */
  use(now: number): boolean {
    if (this.at(0) > now) return false;
    this.#slots.shift();
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
}

/**
 * How late a call may use its slot. As long as it leaves by no more than the gap late, any second has one call more than the
 * rate at the most, however many workers there are: between the first and the last slot that it can have are a second and a
 * gap. A quarter of the gap is for what comes between here and the network.
 */
function graceMs(gap: number): number {
  return Math.max(leastGraceMs, Math.min(0.75 * gap, usualGraceMs), Math.min(gap / 2, mostGraceMs));
}
