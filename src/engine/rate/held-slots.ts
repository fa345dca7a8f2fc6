/** Timers are late by a millisecond or two. */
const leastGraceMs = 3;
/** A slot used within this share of a gap is not late. The rest allows for delays before the network. */
const graceGaps = 0.75;
export const mostLateMs = 100;
const windowMs = 1_000;
/** A rate lowered by less than this factor does not change held slots. */
const noticeable = 1.1;

/** When slots may be used late. Both shares are of the slots of the last second. */
export interface LateUse {
  /** Late use begins only while calls are below this share. */
  readonly below: number;
  /** Calls stay at or below this share for a second after a late use. */
  readonly upTo: number;
  readonly isShared: boolean;
}

/** Avoids an array for each `drop`, since nearly all remove nothing. */
const none: readonly never[] = [];

interface Slot {
  readonly at: number;
  readonly gap: number;
}

interface Call {
  at: number;
  readonly slot?: Slot;
}

/**
 * Slots taken and not used yet, by the steady clock.
 *
 * A busy process may use slots late: such calls leave at once. For a second after that, it makes no more calls in any second than it had
 * slots, or than a share of them.
 *
 * The system may also suspend the process between a slot and its call. A process alone on its timeline counts such a call when it has left.
 * Where others use the slots around it, the call costs the next slot: each second that contains the call has one slot without a call.
 */
export class HeldSlots {
  #slots: Slot[] = [];
  /** Includes slots that were given up. */
  readonly #spent: number[] = [];
  readonly #calls: Call[] = [];
  /** After each of these times, the next slot pays for a call that left late. */
  #owed: number[] = [];
  readonly #lateUse: LateUse;
  #lateAt = Number.NEGATIVE_INFINITY;

  constructor(lateUse: LateUse) {
    this.#lateUse = lateUse;
  }

  get count(): number {
    return this.#slots.length;
  }

  /** Infinite without such a slot. */
  at(index: number): number {
    return this.#slots[index]?.at ?? Number.POSITIVE_INFINITY;
  }

  nextAt(now: number): number {
    if (!this.#isFull(now)) return this.at(0);
    return Math.min(this.at(this.countUntil(now)), (this.#calls[0]?.at ?? 0) + windowMs);
  }

  countUntil(time: number): number {
    // Binary search: a worker asks several times for each call, and may hold hundreds of slots.
    let [low, high] = [0, this.count];
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (this.at(middle) > time) high = middle;
      else low = middle + 1;
    }
    return low;
  }

  add(from: number, gap: number, count: number): void {
    for (let index = 0; index < count; index += 1) this.#slots.push({ at: from + index * gap, gap });
    // After the rate was raised, new slots lie between older ones.
    this.#slots.sort((a, b) => a.at - b.at);
  }

  /** Gives up slots that have passed or lie before the end of a rest. @returns how many */
  drop(now: number, restUntil: number): number {
    if (this.count === 0) return 0;
    const { calls, slots } = this.#lastSecond(now);
    const mayBeLate = calls < this.#lateUse.below * slots;
    const isOver = ({ at, gap }: Slot): boolean =>
      at < now - (mayBeLate ? mostLateMs : graceMs(gap)) || at < restUntil;
    const dropped = takeUntil(this.#slots, (slot) => !isOver(slot));
    if (dropped.length === 0) return 0;
    this.#spent.push(...dropped.filter(({ at }) => at <= now).map(({ at }) => at));
    for (const { at } of dropped) this.#pay(at);
    return dropped.length;
  }

  use(now: number): boolean {
    const [first] = this.#slots;
    if (first === undefined || first.at > now || this.#isFull(now)) return false;
    this.#slots.shift();
    this.#spent.push(first.at);
    if (this.#pay(first.at)) return this.use(now);
    if (first.at < now - graceMs(first.gap)) this.#lateAt = now;
    this.#calls.push({ at: now, slot: first });
    return true;
  }

  /** @param admittedAt undefined for a repeated call without a slot */
  sent(now: number, admittedAt?: number): void {
    const call = this.#calls.findLast(({ at }) => at === admittedAt);
    if (call === undefined && admittedAt !== undefined) return;
    if (call === undefined) this.#calls.push({ at: now });
    else call.at = now;
    if (call?.slot !== undefined && now <= call.slot.at + latestMs(call.slot.gap)) return;
    if (this.#lateUse.isShared) this.#owed.push(now - graceMs(call?.slot?.gap ?? 0));
    else this.#lateAt = now;
  }

  /** Keeps as many slots as a lower rate has. */
  thinOut(gap: number): void {
    if (this.#slots.every((slot) => gap <= slot.gap * noticeable)) return;
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

  /** @returns whether the slot pays for a call that left late */
  #pay(at: number): boolean {
    this.#owed = this.#owed.filter((since) => since > at - windowMs);
    const paid = this.#owed.findIndex((since) => since <= at);
    if (paid >= 0) this.#owed.splice(paid, 1);
    return paid >= 0;
  }

  /** Late calls of the last second leave no room for a call now. */
  #isFull(now: number): boolean {
    if (this.#lateAt <= now - windowMs) return false;
    const { calls, slots } = this.#lastSecond(now);
    return calls >= this.#lateUse.upTo * slots;
  }

  #lastSecond(now: number): { readonly calls: number; readonly slots: number } {
    takeUntil(this.#spent, (at) => at > now - windowMs);
    takeUntil(this.#calls, ({ at }) => at > now - windowMs);
    return { calls: this.#calls.length, slots: this.#spent.length + this.countUntil(now) };
  }
}

function graceMs(gap: number): number {
  return Math.max(leastGraceMs, Math.min(graceGaps * gap, mostLateMs));
}

/** How long after its slot a call counts as in time. The rest of the gap is for the error of clocks. */
function latestMs(gap: number): number {
  return Math.max(graceMs(gap), (graceMs(gap) + gap) / 2);
}

function takeUntil<Each>(list: Each[], isKept: (each: Each) => boolean): readonly Each[] {
  const kept = list.findIndex(isKept);
  return kept === 0 || list.length === 0 ? none : list.splice(0, kept < 0 ? list.length : kept);
}
