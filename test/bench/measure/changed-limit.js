// @ts-check
import { rejectedCalls } from './permitted-calls.js';

/** @typedef {import('./sandbox.js').Call} Call */

/**
 * A limit that changed.
 *
 * @typedef {object} ChangedLimit
 * @property {readonly Call[]} calls
 * @property {number} change milliseconds since 1970
 * @property {number} end of the calls, milliseconds since 1970
 */

const stepMs = 1_000;
const sliceMs = 5_000;
const longMs = 30_000;
const usedMs = 3_000;

/**
 * Seconds from the change until every slice that follows has less than 1 % of its calls rejected. In a slice of fewer than a
 * hundred calls that means no rejected call, so that each test whether the limit has risen again counts.
 */
export function secondsUntilQuiet(/** @type {ChangedLimit} */ { calls, change, end }) {
  let quietFrom = change;
  let from = change;
  for (; from + sliceMs <= end; from += stepMs) {
    if (!fewRejected(calls, from, sliceMs)) quietFrom = from + stepMs;
  }
  return quietFrom === from ? Number.POSITIVE_INFINITY : (quietFrom - change) / 1_000;
}

/** Seconds from the change until half a minute begins in which less than 1 % of the calls are rejected. */
export function secondsUntilFewRejected(/** @type {ChangedLimit} */ limit) {
  return secondsUntil(limit, longMs, (from) => fewRejected(limit.calls, from, longMs));
}

/** Seconds from the change until three seconds begin in which this many calls per second are admitted. */
export function secondsUntilRate(/** @type {ChangedLimit} */ limit, /** @type {number} */ perSecond) {
  return secondsUntil(limit, usedMs, (from) => {
    const { made, rejected } = rejectedCalls(limit.calls, from, from + usedMs);
    return made - rejected >= perSecond;
  });
}

/**
 * @param {ChangedLimit} limit
 * @param {number} spanMs
 * @param {(from: number) => boolean} holds for the calls of such a span
 */
function secondsUntil({ change, end }, spanMs, holds) {
  for (let from = change; from + spanMs <= end; from += stepMs)
    if (holds(from)) return (from - change) / 1_000;
  return Number.POSITIVE_INFINITY;
}

/**
 * @param {readonly Call[]} calls
 * @param {number} from
 * @param {number} ms
 */
function fewRejected(calls, from, ms) {
  const { made, rejected } = rejectedCalls(calls, from, from + ms);
  return rejected < 0.01 * made;
}
