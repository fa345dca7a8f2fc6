// @ts-check

/**
 * A visit to the timeline, or its reply.
 *
 * @typedef {{ index: number, sentAt: number } & ({ visit: import('./world.ts').Visit } | { reply: import('./world.ts').Reply })} Message
 */

/** One message in this many is late by some milliseconds. */
const hiccupEvery = 100;
const hiccupMs = 15;

/** Carries messages to the timeline and back: at once within one process, otherwise late, out of order, or never. */
export class SimulatedNetwork {
  /** @type {import('./world.ts').Network | undefined} */
  #network;
  #begin;
  #random;
  /** @type {{ at: number, message: Message }[]} */
  #under = [];

  /**
   * @param {import('./world.ts').Network | undefined} network
   * @param {number} begin
   * @param {() => number} random
   */
  constructor(network, begin, random) {
    this.#network = network;
    this.#begin = begin;
    this.#random = random;
  }

  /** When the next message arrives. */
  get nextAt() {
    let first = Number.POSITIVE_INFINITY;
    for (const { at } of this.#under) first = Math.min(first, at);
    return first;
  }

  /** @param {Message} message */
  send(/** @type {number} */ now, message) {
    const { delayMs = 1, jitterMs = 1, lost = 0, away } = this.#network ?? { delayMs: 0, jitterMs: 0 };
    const second = (now - this.#begin) / 1_000;
    if (away !== undefined && second >= away[0] && second < away[1]) return;
    if (lost > 0 && this.#random() < lost) return;
    const hiccup = this.#network && this.#random() * hiccupEvery < 1 ? hiccupMs * this.#random() : 0;
    this.hold(now + Math.round(delayMs + jitterMs * this.#random() + hiccup), message);
  }

  /** @param {Message} message */
  hold(/** @type {number} */ at, message) {
    this.#under.push({ at, message });
  }

  /** @returns the next message that has arrived */
  next(/** @type {number} */ now) {
    const index = this.#under.findIndex(({ at }) => at <= now);
    return index < 0 ? undefined : this.#under.splice(index, 1)[0]?.message;
  }
}
