/** So late a call may use its slot: timers and the event loop are late by some milliseconds. */
const leastGraceMs = 10;
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

  /** When the first one can be used; infinite: there is none. */
  get firstAt(): number {
    return this.#slots[0]?.at ?? Number.POSITIVE_INFINITY;
  }

  add(from: number, gap: number, count: number): void {
    for (let index = 0; index < count; index += 1) this.#slots.push({ at: from + index * gap, gap });
    // Where the rate was raised, the new slots lie between those that were taken before.
    this.#slots.sort((a, b) => a.at - b.at);
  }

  /** Gives up what is over, and what lies before the end of a rest. */
  drop(now: number, restUntil: number): void {
    const isOver = ({ at, gap }: Slot): boolean => at < now - graceMs(gap) || at < restUntil;
    const first = this.#slots.findIndex((slot) => !isOver(slot));
    if (first !== 0) this.#slots = first < 0 ? [] : this.#slots.slice(first);
  }

  /** Uses the first slot. @returns whether its time has come */
  use(now: number): boolean {
    if (this.firstAt > now) return false;
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

/** How late a call may be: by half of the gap, so that two calls of a second never become many. */
function graceMs(gap: number): number {
  return Math.max(leastGraceMs, Math.min(gap / 2, mostGraceMs));
}
