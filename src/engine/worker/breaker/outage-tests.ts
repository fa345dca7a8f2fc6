import type { Trouble } from './health-evidence.ts';
import type { FailureStreak } from './streaks.ts';

/** Pauses between test calls, as a share of the outage so far. */
const pauseShareOfOutage = 0.25;
const shortestTestMs = 1_000;
const longestTestMs = 15_000;

/** With this many rows in hand again, a worker has recovered. */
const mostRowsWhileRecovering = 200;

/** The single calls that test whether an outage is over. */
export class OutageTests {
  #nextAt = 0;
  #deadline: NodeJS.Timeout | undefined;
  #waiting: { readonly timer: NodeJS.Timeout; readonly resolve: (admitted: boolean) => void } | undefined;

  /** Calls `giveUp` after this time, unless the outage ends before. */
  begin(leftMs: number | undefined, giveUp: () => void): void {
    if (leftMs === undefined) return;
    this.#deadline = setTimeout(giveUp, Math.max(0, leftMs));
    this.#deadline.unref();
  }

  get nextInMs(): number {
    return Math.max(0, this.#nextAt - performance.now());
  }

  planNext(outageMs: number): void {
    const pauseMs = Math.min(Math.max(outageMs * pauseShareOfOutage, shortestTestMs), longestTestMs);
    this.#nextAt = performance.now() + pauseMs;
  }

  /** Admits one test call, when it is due. */
  admit(): false | Promise<boolean> {
    if (this.#waiting !== undefined) return false;
    return new Promise((resolve) => {
      const timer = setTimeout(() => this.#decide(true), this.#nextAt - performance.now());
      this.#waiting = { timer, resolve };
    });
  }

  /** The outage is over: a test that waits is made as an ordinary call. */
  end(): void {
    clearTimeout(this.#deadline);
  }

  /** No call is made any more. */
  stop(): void {
    clearTimeout(this.#deadline);
    this.#decide(false);
  }

  #decide(admitted: boolean): void {
    const waiting = this.#waiting;
    this.#waiting = undefined;
    clearTimeout(waiting?.timer);
    waiting?.resolve(admitted);
  }
}

/** After an outage, the rows in hand double with each round of answers. */
export class Recovery {
  mostInHand = Number.POSITIVE_INFINITY;

  begin(): void {
    this.mostInHand = 1;
  }

  /** @returns whether more rows may be in hand */
  noteAnswer(): boolean {
    this.mostInHand =
      this.mostInHand >= mostRowsWhileRecovering ? Number.POSITIVE_INFINITY : this.mostInHand + 1;
    return this.mostInHand <= mostRowsWhileRecovering;
  }
}

export interface BreakerOutage {
  readonly trouble: Trouble;
  /** The time until the next test call. */
  readonly testMs: number;
  readonly lastedMs: number;
  /** The time until the breaker halts, if no call is answered. Absent: never. */
  readonly leftMs?: number | undefined;
}

/** @param longestMs the longest outage, after which the breaker halts */
export function outageOf(
  { latest: trouble, lastedMs }: Pick<FailureStreak, 'latest' | 'lastedMs'>,
  testMs: number,
  longestMs: number | undefined,
): BreakerOutage {
  return { trouble, testMs, lastedMs, leftMs: longestMs && Math.max(0, longestMs - lastedMs) };
}
