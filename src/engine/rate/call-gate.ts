import { preciseNow } from '../../base/async/clock.ts';
import type { SlotReply } from '../cluster/timeline.ts';
import { type CallScheduler, patienceMs, type Visit } from './call-scheduler.ts';

export interface CallGateOptions {
  readonly scheduler: CallScheduler;
  readonly take: (request: Visit) => Promise<SlotReply>;
  readonly onError: (error: Error) => void;
}

/** Where rows wait in order of arrival: first for their turn, then, with their intents written, for the moment of the call. */
export class CallGate {
  onRow: () => void = () => {};
  onSendAway: () => void = () => {};
  readonly #scheduler: CallScheduler;
  readonly #options: CallGateOptions;
  #busiest = 0;
  #isClosed = false;
  #isLetInDue = false;
  #timer: NodeJS.Timeout | undefined;
  #timerAt = Number.POSITIVE_INFINITY;
  readonly #waitingRows: ((hasTurn: boolean) => void)[] = [];
  readonly #readyRows: ((leaveBy: number | undefined) => void)[] = [];
  readonly #startedAt: number[] = [];

  constructor(options: CallGateOptions) {
    this.#scheduler = options.scheduler;
    this.#options = options;
  }

  get active(): number {
    return this.#scheduler.active;
  }

  get elsewhere(): number {
    return this.#scheduler.elsewhere;
  }

  get seats(): number {
    return this.#scheduler.seats;
  }

  get isBusy(): boolean {
    return this.#busy + this.#waitingRows.length > 0;
  }

  get callers(): number {
    return this.#scheduler.callers;
  }

  /** Whether the API rests for too long to keep rows waiting here. */
  get isResting(): boolean {
    return this.restMs > 0;
  }

  get restMs(): number {
    return this.#scheduler.restUntil - preciseNow() - patienceMs;
  }

  /** The most rows with a turn or in a call since the last call of this function. */
  takeBusiest(): number {
    const busiest = this.#busiest;
    this.#busiest = this.#busy;
    return busiest;
  }

  /**
   * Waits for a turn.
   *
   * @returns true: write the row's intent, then call `enter` or `release`; false: the row must not be called now
   */
  reserve(): Promise<boolean> {
    return new Promise((resolve) => {
      this.#waitingRows.push(resolve);
      this.#letInSoon();
      this.onRow();
    });
  }

  /**
   * Waits for the moment of the call.
   *
   * @param tookMs how long writing the intent took
   * @returns by when the call must leave: pass it to `noteSent` when the call has left, and call `leave` when it is over. Undefined: the row's
   * turn is over without a call
   */
  enter(tookMs: number): Promise<number | undefined> {
    this.#scheduler.noteWrittenIntent(preciseNow(), tookMs);
    return new Promise((resolve) => {
      this.#readyRows.push(resolve);
      this.#letInSoon();
    });
  }

  /** @param leaveBy absent for a repeated call */
  noteSent(leaveBy?: number): void {
    this.#scheduler.noteSent(preciseNow(), leaveBy);
  }

  release(): void {
    this.#scheduler.releaseTurns(1);
    this.#letIn();
  }

  /** @param waitUntil by the steady clock */
  noteRefusal(waitUntil: number): void {
    this.#scheduler.noteRefusal(preciseNow(), waitUntil);
    this.#letIn();
  }

  /** @param until by the steady clock */
  setCommonRest(until: number): void {
    this.#scheduler.setCommonRest(until);
    this.#letIn();
  }

  forgetOwnRest(): void {
    this.#scheduler.forgetOwnRest();
    this.#letIn();
  }

  leave(): void {
    const now = preciseNow();
    this.#scheduler.noteEnd(now - (this.#startedAt.shift() ?? now));
    this.#letIn();
  }

  close(): void {
    this.#isClosed = true;
    this.#letIn();
  }

  get #busy(): number {
    return this.#scheduler.active + this.#scheduler.reserved;
  }

  /** Rows arrive in groups: one `#letIn` is enough for a group. */
  #letInSoon(): void {
    if (this.#isLetInDue) return;
    this.#isLetInDue = true;
    queueMicrotask(() => {
      this.#isLetInDue = false;
      this.#letIn();
    });
  }

  #letIn(): void {
    const now = preciseNow();
    if (this.#isClosed || this.isResting) this.#sendAway();
    // A closed gate makes no visit to give up its seats: they are free when the worker leaves.
    if (this.#isClosed) {
      clearTimeout(this.#timer);
      return;
    }
    const callers = { waiting: this.#waitingRows.length, ready: this.#readyRows.length };
    const { reserved, admitted, visit, wakeAt } = this.#scheduler.step(now, callers);
    this.#busiest = Math.max(this.#busiest, this.#busy);
    for (const leaveBy of admitted) {
      this.#startedAt.push(now);
      this.#readyRows.shift()?.(leaveBy);
    }
    for (const resolve of this.#waitingRows.splice(0, reserved)) resolve(true);
    if (visit !== undefined) void this.#visit(now, visit);
    this.#wakeAt(wakeAt, now);
  }

  #sendAway(): void {
    this.onSendAway();
    this.#scheduler.releaseTurns(this.#readyRows.length);
    for (const resolve of this.#readyRows.splice(0)) resolve(undefined);
    for (const resolve of this.#waitingRows.splice(0)) resolve(false);
  }

  #wakeAt(at: number, now: number): void {
    if (at !== this.#timerAt) {
      clearTimeout(this.#timer);
      this.#timerAt = at;
      this.#timer = Number.isFinite(at)
        ? setTimeout(() => this.#wake(), Math.max(1, Math.ceil(at - now)))
        : undefined;
    }
    if (this.#waitingRows.length + this.#scheduler.reserved === 0) this.#timer?.unref();
    else this.#timer?.ref();
  }

  #wake(): void {
    this.#timerAt = Number.POSITIVE_INFINITY;
    this.#letIn();
  }

  async #visit(sentAt: number, request: Visit): Promise<void> {
    try {
      const reply = await this.#options.take(request);
      this.#scheduler.takeReply(sentAt, preciseNow(), reply);
      this.#letIn();
    } catch (error) {
      // Another visit follows when this one counts as lost.
      if (!this.#isClosed) this.#options.onError(error as Error);
    }
  }
}
