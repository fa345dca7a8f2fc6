import { leastGraceMs } from '../cluster/timeline.ts';

/** The time from the use of a slot until its call has left the process. */
const leavingMs = 1;
/** How late a worker may use its slots if it is the only one. */
const mostLateMs = 100;
const windowMs = 1_000;
/** A rate lowered by less than this factor does not change slots taken before. */
const noticeable = 1.1;

interface Slot {
  readonly at: number;
  readonly gap: number;
}

/**
 * Slots taken and not used yet, by the steady clock. A slot is lost a gap after its time, because other workers use the slots between. A
 * worker alone may be late: a busy process makes up for the time in which it did not run.
 *
 * The system may also suspend a process between a slot and its call, and a lost connection makes the client call once more. For a second
 * after each such call and each late use, the worker makes no more calls in any second than it had slots. A call that left late counts when
 * it was admitted and when it left.
 */
export class UnusedSlots {
  #slots: Slot[] = [];
  /** Times of the last second: slots used and lost, and calls. */
  readonly #spentTimes: number[] = [];
  readonly #calls: number[] = [];
  #lateAt = Number.NEGATIVE_INFINITY;

  get count(): number {
    return this.#slots.length;
  }

  /** The time of a slot. Infinite without such a slot. */
  timeOf(index: number): number {
    return this.#slots[index]?.at ?? Number.POSITIVE_INFINITY;
  }

  nextAt(now: number): number {
    if (!this.#isFull(now)) return this.timeOf(0);
    return Math.min(this.timeOf(this.countUntil(now)), (this.#calls[0] ?? now) + windowMs);
  }

  countUntil(time: number): number {
    // Binary search: a worker asks several times for each call, and may have hundreds of slots.
    let [low, high] = [0, this.count];
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (this.timeOf(middle) > time) high = middle;
      else low = middle + 1;
    }
    return low;
  }

  add(from: number, gap: number, count: number): void {
    for (let index = 0; index < count; index += 1) this.#slots.push({ at: from + index * gap, gap });
    // After the rate was raised, new slots lie between older ones.
    this.#slots.sort((a, b) => a.at - b.at);
  }

  /** Gives up slots that have passed or lie before the end of a rest. */
  drop(now: number, restUntil: number, isAlone: boolean): void {
    for (const times of [this.#spentTimes, this.#calls])
      while ((times[0] ?? now) <= now - windowMs) times.shift();
    for (let [first] = this.#slots; first !== undefined; [first] = this.#slots) {
      const isPast = now > first.at + graceMs(first) - leavingMs && !(isAlone && this.#mayBeLate(first, now));
      if (first.at >= restUntil && !isPast) return;
      this.#spend(first.at, now);
    }
  }

  /** After `drop`. @returns by when the call must leave; undefined: no call may leave now */
  use(now: number): number | undefined {
    const [first] = this.#slots;
    if (first === undefined || first.at > now || this.#isFull(now)) return undefined;
    this.#spend(first.at, now);
    this.#calls.push(now);
    const leaveBy = first.at + graceMs(first);
    if (now <= leaveBy - leavingMs) return leaveBy;
    this.#lateAt = now;
    return now + leastGraceMs;
  }

  /** @param leaveBy absent for a repeated call */
  noteSent(now: number, leaveBy = Number.NEGATIVE_INFINITY): void {
    if (now <= leaveBy) return;
    this.#calls.push(now);
    this.#lateAt = now;
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

  #spend(at: number, now: number): void {
    this.#slots.shift();
    if (at <= now) this.#spentTimes.push(at);
  }

  #mayBeLate({ at }: Slot, now: number): boolean {
    return now <= at + mostLateMs && !this.#hasUsedAll(now);
  }

  /** Late calls of the last second leave no room for a call now. */
  #isFull(now: number): boolean {
    return now < this.#lateAt + windowMs && this.#hasUsedAll(now);
  }

  #hasUsedAll(now: number): boolean {
    return this.#calls.length >= this.#spentTimes.length + this.countUntil(now);
  }
}

function graceMs({ gap }: Slot): number {
  return Math.max(leastGraceMs, gap);
}
