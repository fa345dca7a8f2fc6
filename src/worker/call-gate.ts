import { steadyNow } from '../clock.ts';
import { type CallSpacing, nextCallAt } from './call-spacing.ts';
import { mostShift } from './turns.ts';

/** How calls of this process may go out. */
export interface GateRules extends CallSpacing {
  /** Calls in flight. */
  readonly concurrency: number;
  /** No call goes out before, of the steady clock. */
  readonly restUntil?: number;
}

/**
 * A rest that is longer is not waited for with the row in hand: others must be able to take it back, and what gathers
 * here meanwhile would go out in a burst.
 */
const patienceMs = 150;

/**
 * Where the calls of a process wait for their turn, in the order in which they come. The datastore lets rows out in
 * small bursts, a window of the rate at a time; here they are spread, and no more go on than may be in flight.
 */
export class CallGate {
  #rules: GateRules;
  #active = 0;
  #busiest = 0;
  #nextAt = 0;
  #restUntil = 0;
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

  /** The most calls that were in flight since this was asked the last time. */
  takeBusiest(): number {
    const busiest = this.#busiest;
    this.#busiest = this.#active;
    return busiest;
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

  /** Lets no call out before, whatever the rules say; never shortens a longer rest. Of the steady clock. */
  rest(until: number): void {
    this.#restUntil = Math.max(this.#restUntil, until);
    this.#letIn();
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
    const now = steadyNow();
    const { concurrency, spacingMs, turnAt } = this.#rules;
    const restUntil = Math.max(this.#restUntil, this.#rules.restUntil ?? 0);
    // Rules that have become quicker apply at once.
    this.#nextAt = Math.min(this.#nextAt, now + spacingMs * (turnAt === undefined ? 1 : 1 + mostShift));
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
      this.#nextAt = nextCallAt(this.#nextAt, now, this.#rules);
      this.#active += 1;
      this.#busiest = Math.max(this.#busiest, this.#active);
      this.#waiting.shift()?.(true);
    }
  }
}
