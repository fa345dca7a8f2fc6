/** Lengths of the windows that limits usually have, milliseconds. */
const usualPeriods = [5, 10, 15, 20, 30, 60, 120, 300, 600, 900, 1_800, 3_600, 7_200, 21_600, 43_200, 86_400].map(
  (seconds) => seconds * 1_000,
);

const minuteMs = 60_000;

/**
 * Times in which nothing is accepted at all: an allowance for a longer window is used up. Tests when it ends with
 * single calls, seldom enough, and learns from two ends how long the window is and how much it allows.
 */
export class Drought {
  #since = 0;
  /** When it was last seen to go on. */
  #testedAt = 0;
  #accepted = 0;
  #lastEnd: { readonly earliest: number; readonly at: number; readonly accepted: number };
  #ends = 0;
  #periodMs: number | undefined;
  /** From the beginning to the end of the first drought: it may be as long as the window. */
  #spanMs: number | undefined;
  #onTheMinute = false;

  constructor(now: number) {
    this.#lastEnd = { earliest: now, at: now, accepted: 0 };
  }

  /** The length of the window, once it is known. */
  get periodMs(): number | undefined {
    return this.#periodMs ?? this.#spanMs;
  }

  /** The window is not what it was. */
  forget(): void {
    this.#periodMs = undefined;
    this.#spanMs = undefined;
    this.#ends = 0;
  }

  begin(now: number, accepted: number): void {
    this.#since = now;
    this.#testedAt = now;
    this.#accepted = accepted;
  }

  /** The call at this time was refused: when to send the next one. */
  nextTest(now: number): number {
    this.#testedAt = now;
    const elapsed = now - this.#since;
    const expected = this.#expectedEnd(now);
    if (expected !== undefined) return expected;
    const wait = elapsed < minuteMs ? Math.min(Math.max(elapsed, 1_000), 10_000) : Math.min(elapsed / 6, 300_000);
    // Many a window begins with the minute.
    const minute = Math.ceil((now + 100) / minuteMs) * minuteMs + 200;
    this.#onTheMinute = wait > 2_000 && minute < now + wait;
    return this.#onTheMinute ? minute : now + wait;
  }

  /** @returns how long it lasted, and what is accepted per second in the long run, if that is known by now. */
  end(now: number, accepted: number): { readonly lastedMs: number; readonly perSecond?: number } {
    const lastedMs = now - this.#since;
    if (lastedMs < 3_000) return { lastedMs };
    const before = this.#lastEnd;
    const spanMs = now - before.at;
    // What was allowed in one burst comes back in parts where the window slides.
    if (spanMs < 0.6 * (this.periodMs ?? 0)) return { lastedMs };
    this.#lastEnd = { earliest: this.#testedAt, at: now, accepted };
    this.#ends += 1;
    if (this.#ends === 1) {
      this.#spanMs = spanMs;
      if (this.#onTheMinute) this.#periodMs = minuteMs;
      return { lastedMs, perSecond: ((accepted - before.accepted) * 1_000) / spanMs };
    }
    const shortest = this.#testedAt - before.at;
    const longest = now - before.earliest;
    const periodMs = usualPeriods.find((period) => period >= shortest && period <= longest) ?? spanMs;
    this.#periodMs = periodMs;
    return { lastedMs, perSecond: ((accepted - before.accepted) * 1_000) / periodMs };
  }

  #expectedEnd(now: number): number | undefined {
    if (this.#periodMs === undefined) return undefined;
    const expected = this.#lastEnd.at + this.#periodMs;
    return expected > now + 200 ? expected : undefined;
  }
}
