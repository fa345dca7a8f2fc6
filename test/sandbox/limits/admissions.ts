import type { Limiter } from '../../../src/sandbox/limits/limiters.ts';

/** The outcome of a request, with times in milliseconds rounded to a thousandth. */
export type Fate = readonly [
  fate: 'in' | 'out',
  remaining: number | undefined,
  moreAfter: number | undefined,
  wholeAfter: number | undefined,
];

/** The outcomes of requests at the given times; where one is refused, checks that `moreAfter` is the waiting time. */
export function fates(limiter: Limiter, times: readonly number[]): Fate[] {
  return times.map((now) => {
    const admission = limiter.admit(now, 'token');
    const { remaining, moreAfter, wholeAfter } = admission.allowance ?? {};
    if (!admission.admitted && rounded(admission.retryAfter, 1000) !== rounded(moreAfter)) {
      throw new Error(`at ${now}: retry after ${admission.retryAfter} s, more after ${moreAfter} ms`);
    }
    return [admission.admitted ? 'in' : 'out', remaining, rounded(moreAfter), rounded(wholeAfter)];
  });
}

function rounded(value: number | undefined, factor = 1): number | undefined {
  return value === undefined ? undefined : Math.round(value * factor * 1000) / 1000;
}
