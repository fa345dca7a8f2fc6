export type CallStop = 'aborted' | 'timed-out';

/**
 * Stops a call at the caller's signal or the total time-out. An `AbortController` for each call would cost more than the rest of the
 * client, and `AbortSignal.any` leaks.
 */
export class Stop {
  /** The step of the call that a stop ends. A call has one step at a time. */
  step: { stop(): void } | undefined;
  readonly #milliseconds: number;
  #reason: CallStop | undefined;
  #timer: NodeJS.Timeout;
  readonly #callsOfSignal: Set<Stop> | undefined;

  constructor(milliseconds: number, signal?: AbortSignal) {
    this.#milliseconds = milliseconds;
    this.#timer = this.#start();
    if (signal?.aborted) this.stopCall('aborted');
    else this.#callsOfSignal = signal && stopsOf(signal).add(this);
  }

  get reason(): CallStop | undefined {
    return this.#reason;
  }

  /** Restarts the total time-out. */
  restart(): void {
    this.#timer.refresh();
  }

  /** Stops the call. If it is stopped twice, the first reason counts. */
  stopCall(reason: CallStop): void {
    if (this.#reason !== undefined) return;
    this.#reason = reason;
    this.step?.stop();
  }

  /** Waits for this time, or until the call must stop. */
  async pause(milliseconds: number): Promise<void> {
    if (this.#reason !== undefined) return;
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, milliseconds);
      this.step = {
        stop() {
          clearTimeout(timer);
          resolve();
        },
      };
    });
    this.step = undefined;
  }

  /**
   * Waits without the total time-out, which restarts afterwards: the wait says nothing about the API. Undefined when the caller stops it.
   */
  async waitWithoutTimeout<Value>(waiting: Promise<Value>): Promise<Value | undefined> {
    if (this.#reason !== undefined) return undefined;
    clearTimeout(this.#timer);
    try {
      return await new Promise<Value | undefined>((resolve, reject) => {
        this.step = { stop: () => resolve(undefined) };
        waiting.then(resolve, reject);
      });
    } finally {
      this.step = undefined;
      this.#timer = this.#start();
    }
  }

  #start(): NodeJS.Timeout {
    return setTimeout(() => this.stopCall('timed-out'), this.#milliseconds);
  }

  release(): void {
    clearTimeout(this.#timer);
    this.#callsOfSignal?.delete(this);
    this.step = undefined;
  }
}

/** The calls of each signal. The calls of a signal share one listener: separate listeners would take longer than the stop. */
const stops = new WeakMap<AbortSignal, Set<Stop>>();

function stopsOf(signal: AbortSignal): Set<Stop> {
  const existing = stops.get(signal);
  if (existing !== undefined) return existing;
  const all = new Set<Stop>();
  stops.set(signal, all);
  signal.addEventListener(
    'abort',
    () => {
      for (const stop of all) stop.stopCall('aborted');
    },
    { once: true },
  );
  return all;
}
