/** How calls of this process may go out. */
export interface GateRules {
  /** Calls in flight. */
  readonly concurrency: number;
  /** Between the beginnings of two calls at least, milliseconds; 0 lets them go at once. */
  readonly spacingMs: number;
  /** No call goes out before, milliseconds since 1970. */
  readonly restUntil?: number;
}

/** A rest that is longer is not waited for with the row in hand: others must be able to take it back. */
const patienceMs = 1_000;
/** Timers are no more exact. */
const leastSpacingMs = 1.5;

/**
 * Where the calls of a process wait for their turn, in the order in which they come. The datastore lets rows out in
 * small bursts, a window of the rate at a time; here they are spread, and no more go on than may be in flight.
 */
export class CallGate {
  #rules: GateRules;
  #active = 0;
  #nextAt = 0;
  #closed = false;
  #timer: NodeJS.Timeout | undefined;
  readonly #waiting: ((admitted: boolean) => void)[] = [];

  constructor(rules: GateRules) {
    this.#rules = rules;
  }

  /** Calls in flight. */
  get active(): number {
    return this.#active;
  }

  /** Rules from now on. */
  set rules(rules: GateRules) {
    this.#rules = rules;
    this.#letIn();
  }

  /**
   * Waits for its turn.
   *
   * @returns true when the call may go out, and `leave` is to be called after it; false when it must not be made now.
   */
  enter(): Promise<boolean> {
    return new Promise((resolve) => {
      this.#waiting.push(resolve);
      this.#letIn();
    });
  }

  leave(): void {
    this.#active -= 1;
    this.#letIn();
  }

  /** Sends everybody away who waits, and whoever comes. */
  close(): void {
    this.#closed = true;
    this.#letIn();
  }

  #letIn(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    const now = Date.now();
    const { concurrency, spacingMs, restUntil = 0 } = this.#rules;
    // Rules that have become quicker apply at once, and a clock that is set back holds nobody up.
    this.#nextAt = Math.min(this.#nextAt, now + spacingMs);
    if (this.#closed || restUntil - now > patienceMs) {
      for (const resolve of this.#waiting.splice(0)) resolve(false);
      return;
    }
    while (this.#waiting.length > 0 && this.#active < concurrency) {
      const at = Math.max(this.#nextAt, restUntil);
      if (at > now) {
        this.#timer = setTimeout(() => this.#letIn(), Math.ceil(at - now));
        return;
      }
      // Late timers are made up for, but no more than one call's time.
      if (spacingMs >= leastSpacingMs) this.#nextAt = Math.max(this.#nextAt, now - spacingMs) + spacingMs;
      this.#active += 1;
      this.#waiting.shift()?.(true);
    }
  }
}
