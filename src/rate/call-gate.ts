import { steadyNow } from '../clock.ts';
import type { SlotReply, SlotRequest } from '../cluster/timeline.ts';
import { type CallScheduler, patienceMs } from './call-scheduler.ts';

export interface CallGateOptions {
  readonly scheduler: CallScheduler;
  /** Asks the timeline for slots. */
  readonly take: (request: Omit<SlotRequest, 'worker'>) => Promise<SlotReply>;
  readonly onError: (error: Error) => void;
}

/** Where the calls of a process wait for their turn, in the order in which they come, until the scheduler admits them. */
export class CallGate {
  readonly #scheduler: CallScheduler;
  readonly #options: CallGateOptions;
  #busiest = 0;
  #closed = false;
  #timer: NodeJS.Timeout | undefined;
  readonly #waiting: ((admitted: boolean) => void)[] = [];
  /** When the calls in flight began, the oldest first. */
  readonly #begun: number[] = [];

  constructor(options: CallGateOptions) {
    this.#scheduler = options.scheduler;
    this.#options = options;
  }

  /** Calls in flight. */
  get active(): number {
    return this.#scheduler.active;
  }

  /** Those of all other workers. */
  get elsewhere(): number {
    return this.#scheduler.elsewhere;
  }

  /** Calls that may be in flight. */
  get places(): number {
    return this.#scheduler.places;
  }

  /** Whether a rest goes on that is not waited for with a row in hand. */
  get isResting(): boolean {
    return this.#scheduler.restUntil - steadyNow() > patienceMs;
  }

  /** The most calls that were in flight since this was asked the last time. */
  takeBusiest(): number {
    const busiest = this.#busiest;
    this.#busiest = this.active;
    return busiest;
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

  /** A call was refused, and until then the API asks to wait. Of the steady clock. */
  refused(waitUntil: number): void {
    this.#scheduler.refused(steadyNow(), waitUntil);
    this.#letIn();
  }

  /** Until when all workers rest, as the one that leads has decided. Of the steady clock. */
  heardOfRest(until: number): void {
    this.#scheduler.heardOfRest(until);
    this.#letIn();
  }

  leave(): void {
    const now = steadyNow();
    this.#scheduler.ended(now - (this.#begun.shift() ?? now));
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
    if (this.#closed || this.isResting) for (const resolve of this.#waiting.splice(0)) resolve(false);
    // Its places are free when the worker leaves.
    if (this.#closed) return;
    const { admitted, visit, wakeAt } = this.#scheduler.step(now, this.#waiting.length);
    this.#busiest = Math.max(this.#busiest, this.active);
    for (const resolve of this.#waiting.splice(0, admitted)) {
      this.#begun.push(now);
      resolve(true);
    }
    if (visit !== undefined) void this.#visit(now, visit);
    if (!Number.isFinite(wakeAt)) return;
    this.#timer = setTimeout(() => this.#letIn(), Math.max(1, Math.ceil(wakeAt - now)));
    // Who only tells the timeline what is under way keeps no process alive.
    if (this.#waiting.length === 0) this.#timer.unref();
  }

  async #visit(sentAt: number, request: Omit<SlotRequest, 'worker'>): Promise<void> {
    try {
      const reply = await this.#options.take(request);
      this.#scheduler.replied(sentAt, steadyNow(), reply);
      this.#letIn();
    } catch (error) {
      // It is asked again when the visit counts as lost.
      if (!this.#closed) this.#options.onError(error as Error);
    }
  }
}
