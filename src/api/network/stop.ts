import { EventEmitter } from 'node:events';

/** What stopped a call before it ended by itself: the caller's signal, or the total time-out. */
export type CallStop = 'aborted' | 'timed-out';

/**
 * One stop for the caller's signal and the total time-out of a call. It is made thousands of times a second, and an
 * `AbortController` with its events would cost more than the rest of the client; `AbortSignal.any` leaks besides.
 */
export class Stop {
  #reason: CallStop | undefined;
  readonly #listeners = new Set<() => void>();
  readonly #timer: NodeJS.Timeout;
  readonly #outer: AbortSignal | undefined;

  constructor(milliseconds: number, outer: AbortSignal | undefined) {
    this.#timer = setTimeout(() => this.#fire('timed-out'), milliseconds);
    this.#outer = outer;
    if (outer?.aborted) {
      this.#fire('aborted');
    } else if (outer !== undefined) {
      allowManyListeners(outer);
      outer.addEventListener('abort', this.#onAbort);
    }
  }

  /** Undefined as long as the call may go on. */
  get reason(): CallStop | undefined {
    return this.#reason;
  }

  /** Calls back once when the call is to stop. */
  addListener(listener: () => void): void {
    this.#listeners.add(listener);
  }

  removeListener(listener: () => void): void {
    this.#listeners.delete(listener);
  }

  /** The same as a signal, for who needs one. */
  toSignal(): AbortSignal {
    const controller = new AbortController();
    if (this.#reason !== undefined) controller.abort();
    else this.addListener(() => controller.abort());
    return controller.signal;
  }

  /** To be called when the call has ended. */
  release(): void {
    clearTimeout(this.#timer);
    this.#outer?.removeEventListener('abort', this.#onAbort);
    this.#listeners.clear();
  }

  readonly #onAbort = (): void => this.#fire('aborted');

  #fire(reason: CallStop): void {
    if (this.#reason !== undefined) return;
    this.#reason = reason;
    for (const listener of this.#listeners) listener();
  }
}

const manyAllowed = new WeakSet<AbortSignal>();

/** Many calls share one signal; they are not a leak. To say so anew for each would take longer than to listen. */
function allowManyListeners(signal: AbortSignal): void {
  if (manyAllowed.has(signal)) return;
  manyAllowed.add(signal);
  EventEmitter.setMaxListeners(0, signal);
}
