export interface WatchdogFacts {
  readonly waiting: number;
  readonly active: number;
  readonly started: number;
  /** Whether the worker rests: the API asked for it, a rate is set, or a user paused the run, or its queue in Redis. */
  readonly isResting: boolean;
  /** Whether the datastore does not answer, which users see elsewhere. */
  readonly isDatastoreAway: boolean;
}

/** `reconnect`: open new connections. `give-up`: stop the worker, so that its supervisor starts another. */
export type WatchdogVerdict = 'fine' | 'suspicious' | 'reconnect' | 'give-up';

/** The worker reconnects after this long without a start, and again after each further time. */
const reconnectAfterMs = 30_000;
const giveUpAfterMs = 120_000;

/**
 * Notices a standstill, which no single error shows: rows wait, and a worker claims none. Call `check` every few seconds.
 *
 *              no excuse            reconnectAfterMs              giveUpAfterMs
 *     calm ───────────────▶ watching ──────────────▶ watching ─ … ──────────────▶ given up
 * 'fine'               'suspicious'   'reconnect' once, then               'give-up', at every
 *      ▲                                 'suspicious' again, until            check from then on
 *      │                                 a further reconnectAfterMs                  │
 *      └───────────────────────── an excuse ─────────────────────────────────────────┘
 *
 * An excuse is: a row was started since the last check, none waits, a row is in flight, the queue rests, or the datastore is away. The
 * first check without an excuse is still 'fine': the rows may have waited for only an instant.
 *
 * Between two checks no more than `reconnectAfterMs` counts: a process that was suspended for an hour was not stuck for an hour.
 */
export class Watchdog {
  #started = 0;
  #standstill:
    | { readonly checkedAt: number; readonly stuckMs: number; readonly reconnectMs: number }
    | undefined;

  check({ started, waiting, active, isResting, isDatastoreAway }: WatchdogFacts): WatchdogVerdict {
    const isExcused =
      started !== this.#started || waiting === 0 || active > 0 || isResting || isDatastoreAway;
    this.#started = started;
    const now = performance.now();
    const standstill = this.#standstill;
    if (isExcused || standstill === undefined) {
      this.#standstill = isExcused
        ? undefined
        : { checkedAt: now, stuckMs: 0, reconnectMs: reconnectAfterMs };
      return 'fine';
    }
    const stuckMs = standstill.stuckMs + Math.min(now - standstill.checkedAt, reconnectAfterMs);
    const isDue = stuckMs >= standstill.reconnectMs;
    const reconnectMs = isDue ? stuckMs + reconnectAfterMs : standstill.reconnectMs;
    this.#standstill = { checkedAt: now, stuckMs, reconnectMs };
    if (stuckMs >= giveUpAfterMs) return 'give-up';
    return isDue ? 'reconnect' : 'suspicious';
  }
}
