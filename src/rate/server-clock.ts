/** Two monotonic clocks drift apart by at most this. */
const drift = 0.0005;
/** For rounding to milliseconds. */
const tolerance = 1;

/**
 * How far the clock of the timeline is ahead of the steady clock of this process. The quickest reply tells, until a reply
 * contradicts it because one of the clocks was set or they drifted apart.
 */
export class ServerClock {
  #offset = 0;
  #roundTripMs = Number.POSITIVE_INFINITY;
  #measuredAt = 0;

  /** @param serverNow by the other clock, at some time between the request and the reply */
  heard(sentAt: number, now: number, serverNow: number): void {
    const roundTripMs = now - sentAt;
    const error = tolerance + drift * (now - this.#measuredAt);
    const isPossible = this.#offset >= serverNow - now - error && this.#offset <= serverNow - sentAt + error;
    if (isPossible && roundTripMs > this.#roundTripMs + drift * (now - this.#measuredAt)) return;
    this.#offset = serverNow - (sentAt + now) / 2;
    this.#roundTripMs = roundTripMs;
    this.#measuredAt = now;
  }

  /** @param serverTime by the other clock. @returns the same time by the steady clock */
  localTime(serverTime: number): number {
    return serverTime - this.#offset;
  }
}
