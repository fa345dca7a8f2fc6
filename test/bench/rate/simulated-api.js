// @ts-check
import { limitHeaders } from '../../../dist/src/sandbox/limits/allowance.js';
import { parseLimitPlan } from '../../../dist/src/sandbox/limits/plan.js';

/** @typedef {import('./world.ts').World} World */

/**
 * A call in flight, with its future outcome.
 *
 * @typedef {object} Call
 * @property {number} sentAt
 * @property {number} end
 * @property {number} among calls in flight when it was sent, itself included
 * @property {'accepted' | 'rejected'} outcome
 * @property {200 | 429 | 503} status
 * @property {(() => void) | undefined} release
 * @property {Readonly<Record<string, string>>} headers
 */

/** The limiter of a limit as `cqbatch sandbox --limit` takes it. */
export function limiterOf(/** @type {string} */ limit) {
  return parseLimitPlan('--limit', limit);
}

/** The API of a world: the sandbox's limiters and headers in front of a server that takes time. */
export class SimulatedApi {
  /** @type {World} */
  #world;
  #begin;
  #random;
  #limiter;
  /** The limit that answers state. */
  #stated;
  /** When other clients of the limit call next. */
  #othersAt;
  /** When each thread of the server is free again. */
  #threads;

  /**
   * @param {World} world
   * @param {number} begin
   * @param {() => number} random
   */
  constructor(world, begin, random) {
    this.#world = world;
    this.#begin = begin;
    this.#random = random;
    this.#limiter = limiterOf(world.limit);
    this.#stated = world.statedLimit === undefined ? undefined : limiterOf(world.statedLimit);
    this.#othersAt = begin;
    this.#threads = Array.from({ length: world.server?.threads ?? 0 }, () => begin);
  }

  /**
   * @param {import('./world.ts').Span | undefined} span
   * @param {number} now
   */
  within(span, now) {
    const second = (now - this.#begin) / 1_000;
    return span !== undefined && second >= span[0] && second < span[1];
  }

  /**
   * @param {number} now
   * @param {number} among
   * @returns {Call}
   */
  call(now, among) {
    const { headers: style = 'none', retryAfter, limitStatus = 429 } = this.#world;
    const { noiseStatus = 503, noiseWaits = false } = this.#world;
    const noise = this.#noise(now);
    if (noise > 0 && this.#random() < noise)
      return {
        sentAt: now,
        end: this.#answeredAt(now),
        among,
        outcome: 'rejected',
        status: noiseStatus,
        release: undefined,
        headers: noiseWaits ? { 'retry-after': '1' } : {},
      };
    this.#admitOthers(now);
    const admission = this.#limiter.admit(now, 'token');
    const { isAdmitted } = admission;
    const allowance = (this.#stated?.admit(now, 'token') ?? admission).allowance;
    const headers = { ...(allowance && limitHeaders(allowance, style, now)) };
    if (retryAfter && !isAdmitted && admission.retryAfter !== undefined)
      headers['retry-after'] = String(Math.max(1, Math.ceil(admission.retryAfter)));
    const delay = isAdmitted ? (admission.delay ?? 0) + this.#service(now) : 0;
    return {
      sentAt: now,
      end: this.#answeredAt(now + delay),
      among,
      outcome: isAdmitted ? 'accepted' : 'rejected',
      status: isAdmitted ? 200 : limitStatus,
      release: isAdmitted ? admission.release : undefined,
      headers: /** @type {Record<string, string>} */ (headers),
    };
  }

  /** Other clients call at about the same intervals. */
  #admitOthers(/** @type {number} */ now) {
    const { others } = this.#world;
    if (others === undefined) return;
    for (; this.#othersAt <= now; this.#othersAt += (1_000 / others.perSecond) * (0.5 + this.#random()))
      if (this.within(others.during, this.#othersAt)) this.#limiter.admit(this.#othersAt, 'token');
  }

  /** An API that stalls answers only when the stall is over. */
  #answeredAt(/** @type {number} */ now) {
    const at = now + this.#latency();
    const { stalls } = this.#world;
    return stalls !== undefined && this.within(stalls, at)
      ? this.#begin + stalls[1] * 1_000 + (at - now)
      : at;
  }

  #noise(/** @type {number} */ now) {
    const { noise = 0, noisy, laterNoise = 0 } = this.#world;
    if (noisy === undefined || this.within(noisy, now)) return noise;
    return now >= this.#begin + noisy[1] * 1_000 ? laterNoise : 0;
  }

  #latency() {
    const { latencyMs = 50 } = this.#world;
    return Math.max(1, latencyMs * (0.8 + 0.4 * this.#random()));
  }

  /** When it has been served, by the first free thread. */
  #service(/** @type {number} */ now) {
    const { server } = this.#world;
    if (server === undefined) return 0;
    const freeAt = Math.max(now, Math.min(...this.#threads));
    const thread = this.#threads.indexOf(Math.min(...this.#threads));
    this.#threads[thread] = freeAt + server.serviceMs * (0.9 + 0.2 * this.#random());
    return (this.#threads[thread] ?? now) - now;
  }
}
