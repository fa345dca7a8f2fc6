/** The most that two monotonic clocks drift apart. */
const drift = 0.0005;
/** The error of a time that is rounded to milliseconds. */
const tolerance = 1;

/** How far the timeline's clock is ahead of this process's monotonic clock. The fastest reply counts until a later reply contradicts it. */
export class ServerClock {
  #offset = 0;
  #roundTripMs = Number.POSITIVE_INFINITY;
  #measuredAt = 0;

  /** @param serverNow time of the other clock between request and reply */
  measure(sentAt: number, now: number, serverNow: number): void {
    const roundTripMs = now - sentAt;
    const error = tolerance + drift * (now - this.#measuredAt);
    const isPossible = this.#offset >= serverNow - now - error && this.#offset <= serverNow - sentAt + error;
    if (isPossible && roundTripMs > this.#roundTripMs + drift * (now - this.#measuredAt)) return;
    this.#offset = serverNow - (sentAt + now) / 2;
    this.#roundTripMs = roundTripMs;
    this.#measuredAt = now;
  }

  localTime(serverTime: number): number {
    return serverTime - this.#offset;
  }
}
