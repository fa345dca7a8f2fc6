/** Drift of two monotonic clocks, at most. */
const drift = 0.0005;
/** Error of times rounded to milliseconds. */
const tolerance = 1;

/**
 * How far the clock of the timeline is ahead of this process's monotonic one. The fastest reply decides, until a later one contradicts it
 * because a clock was set or drifted.
 */
export class ServerClock {
  #offset = 0;
  #roundTripMs = Number.POSITIVE_INFINITY;
  #measuredAt = 0;

  /** @param serverNow the other clock, between request and reply */
  measure(sentAt: number, now: number, serverNow: number): void {
    const roundTripMs = now - sentAt;
    const error = tolerance + drift * (now - this.#measuredAt);
    const isPossible = this.#offset >= serverNow - now - error && this.#offset <= serverNow - sentAt + error;
    if (isPossible && roundTripMs > this.#roundTripMs + drift * (now - this.#measuredAt)) return;
    this.#offset = serverNow - (sentAt + now) / 2;
    this.#roundTripMs = roundTripMs;
    this.#measuredAt = now;
  }

  /** @returns the same moment by the monotonic clock */
  localTime(serverTime: number): number {
    return serverTime - this.#offset;
  }
}
