// @ts-check

/** @typedef {import('./sandbox.js').Call} Call */

/**
 * What a limit permits in the long run.
 *
 * @typedef {{ readonly perSecond: number }
 *   | { readonly limit: number, readonly windowMs: number }} Permission `windowMs` is of windows of the clock
 */

/**
 * @typedef {object} UsedCalls
 * @property {number} used admitted calls per second
 * @property {number} permitted calls per second
 */

/** What a run does before it knows the limit is not judged. */
export const warmUpMs = 10_000;
const sliceMs = 10_000;

/**
 * The earliest end of calls that can be judged.
 *
 * @param {Permission} permission
 * @param {number} from milliseconds since 1970
 * @param {number} ms
 */
export function endAfter(permission, from, ms) {
  const windowMs = 'windowMs' in permission ? permission.windowMs : 1;
  return Math.ceil((from + ms) / windowMs) * windowMs;
}

/**
 * How much of what was permitted was used, after the first seconds. What is used early in a longer window cannot be used later:
 * there everything is judged, from the beginning of the first window.
 *
 * @param {Permission} permission
 * @param {readonly Call[]} calls
 * @param {number} end milliseconds since 1970, where a window ends
 * @returns {{ whole: UsedCalls, worstSlice: UsedCalls }}
 */
export function usedCalls(permission, calls, end) {
  const windowMs = 'windowMs' in permission ? permission.windowMs : 1;
  const perSecond =
    'windowMs' in permission ? (1_000 * permission.limit) / permission.windowMs : permission.perSecond;
  const first = calls[0]?.at ?? Number.NaN;
  const begin =
    windowMs > warmUpMs
      ? Math.floor(first / windowMs) * windowMs
      : Math.ceil((first + warmUpMs) / windowMs) * windowMs;
  const within = (/** @type {number} */ from, /** @type {number} */ to) => {
    const admitted = calls.filter(({ at, throttled }) => !throttled && at >= from && at < to);
    return { used: (1_000 * admitted.length) / (to - from), permitted: perSecond };
  };

  const length = Math.max(sliceMs, windowMs);
  let worstSlice = within(begin, begin + length);
  for (let from = begin + length; from + length <= end; from += length) {
    const slice = within(from, from + length);
    if (slice.used < worstSlice.used) worstSlice = slice;
  }
  return { whole: within(begin, end), worstSlice };
}

/**
 * @param {readonly Call[]} calls
 * @param {number} from
 * @param {number} to
 * @returns {{ made: number, rejected: number }} calls per second
 */
export function rejectedCalls(calls, from, to) {
  const made = calls.filter(({ at }) => at >= from && at < to);
  const perSecond = 1_000 / (to - from);
  return {
    made: made.length * perSecond,
    rejected: made.filter(({ throttled }) => throttled).length * perSecond,
  };
}
