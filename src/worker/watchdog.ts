/** What a worker knows of itself and of its queue at one moment. */
export interface WatchdogFacts {
  /** Rows that wait to be claimed. */
  readonly waiting: number;
  /** Rows in flight here. */
  readonly active: number;
  /** Claims that this worker has ever made. */
  readonly started: number;
  /** The queue rests: the API asked for it, a rate is set, or somebody paused it. */
  readonly resting: boolean;
  /** The datastore does not answer, which is shown elsewhere and waited for. */
  readonly away: boolean;
}

/**
 * What is to be done: nothing; say that rows wait and none starts; open the connections of the worker anew; stop the
 * worker, so that whoever supervises it starts another.
 */
export type WatchdogVerdict = 'fine' | 'suspicious' | 'reconnect' | 'give-up';

export interface WatchdogOptions {
  /** Milliseconds without a start after which to reconnect, and between two attempts at it. Default 30 s. */
  readonly reconnectAfterMs?: number;
  /** Milliseconds without a start after which to give up. Default 120 s. */
  readonly giveUpAfterMs?: number;
  /** Monotonic milliseconds; for tests. */
  readonly now?: () => number;
}

/**
 * Notices that a worker has come to a standstill, which no single error shows: rows wait, and it claims none. It has
 * no timer of its own; whoever owns it calls `check` every few seconds and does what the verdict says.
 *
 *              no excuse            reconnectAfterMs              giveUpAfterMs
 *     calm ───────────────▶ watching ──────────────▶ watching ─ … ──────────────▶ given up
 *    'fine'               'suspicious'   'reconnect' once, then               'give-up', at every
 *      ▲                                 'suspicious' again, until            check from then on
 *      │                                 a further reconnectAfterMs                  │
 *      └───────────────────────── an excuse ─────────────────────────────────────────┘
 *
 * An excuse is: a row was started since the last check, none waits, one is in flight, the queue rests, or the
 * datastore is away. The spell begins at the first check without one, whose verdict is still 'fine': nobody knows
 * whether the rows have waited for longer than an instant.
 *
 * Between two checks no more than `reconnectAfterMs` counts. A process that was suspended for an hour, or that was
 * kept from running, was not stuck for an hour; the first check after it must not be the last.
 */
export class Watchdog {
  readonly #reconnectAfterMs: number;
  readonly #giveUpAfterMs: number;
  readonly #now: () => number;
  #started = 0;
  #checkedAt: number | undefined;
  #stuckMs = 0;
  #nextReconnectMs = 0;

  constructor(options: WatchdogOptions = {}) {
    this.#reconnectAfterMs = options.reconnectAfterMs ?? 30_000;
    this.#giveUpAfterMs = options.giveUpAfterMs ?? 120_000;
    this.#now = options.now ?? (() => performance.now());
  }

  /** For how long rows have waited while none was started, in milliseconds: for messages. */
  get stuckMs(): number {
    return this.#stuckMs;
  }

  check(facts: WatchdogFacts): WatchdogVerdict {
    const excused =
      facts.started !== this.#started ||
      facts.waiting === 0 ||
      facts.active > 0 ||
      facts.resting ||
      facts.away;
    this.#started = facts.started;
    if (excused) {
      this.#checkedAt = undefined;
      this.#stuckMs = 0;
      return 'fine';
    }

    const now = this.#now();
    if (this.#checkedAt === undefined) {
      this.#checkedAt = now;
      this.#nextReconnectMs = this.#reconnectAfterMs;
      return 'fine';
    }
    this.#stuckMs += Math.min(now - this.#checkedAt, this.#reconnectAfterMs);
    this.#checkedAt = now;

    if (this.#stuckMs >= this.#giveUpAfterMs) return 'give-up';
    if (this.#stuckMs < this.#nextReconnectMs) return 'suspicious';
    this.#nextReconnectMs = this.#stuckMs + this.#reconnectAfterMs;
    return 'reconnect';
  }
}
