import { type Allowance, ratePolicy, windowPolicy } from './allowance.ts';

export interface Limiter {
  /** `now` is in milliseconds since 1970 UTC and never goes back. Refused requests use nothing up. */
  readonly admit: (now: number, token: string) => Admission;
}

export interface Admission {
  readonly isAdmitted: boolean;
  /** What remains of the limit. Absent when there is no limit. */
  readonly allowance?: Allowance;
  /** The time until a refused request can be admitted, in seconds, not rounded; absent when unknown. */
  readonly retryAfter?: number;
  /** The time that an admitted request waits, in milliseconds. */
  readonly delay?: number;
  /** Called when an admitted request is over. Only the first call counts. */
  readonly release?: () => void;
}

function admission(isAdmitted: boolean, allowance: Allowance & { readonly moreAfter: number }): Admission {
  return isAdmitted
    ? { isAdmitted, allowance }
    : { isAdmitted, allowance, retryAfter: allowance.moreAfter / 1000 };
}

/**
 * `rate` tokens flow in per second; each admitted request takes one. The bucket starts full and holds `burst` tokens, by default those of a
 * second.
 */
export function tokenBucket({
  rate,
  burst = Math.max(1, Math.ceil(rate)),
}: {
  readonly rate: number;
  readonly burst?: number | undefined;
}): Limiter {
  const policy = ratePolicy(rate, burst);
  let tokens = burst;
  let filledAt: number | undefined;
  return {
    admit(now) {
      tokens = Math.min(burst, tokens + ((now - (filledAt ?? now)) / 1000) * rate);
      filledAt = now;
      const admitted = tokens + tokenRounding >= 1;
      if (admitted) tokens -= 1;
      const remaining = Math.floor(tokens + tokenRounding);
      const moreAfter = ((Math.min(remaining + 1, burst) - tokens) / rate) * 1000;
      return admission(admitted, {
        policy,
        remaining,
        moreAfter,
        wholeAfter: ((burst - tokens) / rate) * 1000,
      });
    },
  };
}

/** Makes ten tenths of a token a whole token in spite of floating point. */
const tokenRounding = 1e-9;

/** Requests take turns evenly at the rate per second; up to `queue` requests wait. */
export function leakyBucket({ rate, queue }: { readonly rate: number; readonly queue: number }): Limiter {
  const policy = ratePolicy(rate, queue);
  /** The time from one turn to the next, in milliseconds. */
  const interval = 1000 / rate;
  let nextTurn = Number.NEGATIVE_INFINITY;
  const allowance = (now: number) => {
    const lastTurn = nextTurn - interval - now;
    const waiting = Math.max(0, Math.ceil((lastTurn - turnRounding) / interval));
    return {
      policy,
      remaining: queue - waiting,
      moreAfter: Math.max(0, lastTurn - (waiting - 1) * interval),
      wholeAfter: Math.max(0, lastTurn),
    };
  };
  return {
    admit(now) {
      const delay = Math.max(0, nextTurn - now);
      if (delay - queue * interval > turnRounding) return admission(false, allowance(now));
      nextTurn = now + delay + interval;
      return { isAdmitted: true, allowance: allowance(now), delay };
    },
  };
}

/** The error of a sum of intervals, in milliseconds. Times since 1970 are no more exact. */
const turnRounding = 1e-3;

interface Window {
  /** The length of a window in whole milliseconds. */
  readonly window: number;
  readonly limit: number;
}

/**
 * `limit` requests in each window. Windows begin by the `clock`, at the multiples of their length since 1970 UTC, or with the `first`
 * request after the previous window.
 */
export function fixedWindow({
  limit,
  window,
  align,
}: Window & { readonly align: 'clock' | 'first' }): Limiter {
  const policy = windowPolicy(limit, window);
  let end = Number.NEGATIVE_INFINITY;
  let count = 0;
  return {
    admit(now) {
      if (now >= end) {
        end = window + (align === 'clock' ? Math.floor(now / window) * window : now);
        count = 0;
      }
      const admitted = count < limit;
      if (admitted) count++;
      const rest = end - now;
      return admission(admitted, { policy, remaining: limit - count, moreAfter: rest, wholeAfter: rest });
    },
  };
}

/** `limit` requests in any span of the window's length. */
export function slidingWindow({ limit, window }: Window): Limiter {
  const policy = windowPolicy(limit, window);
  /** Times of admission; those before `oldest` have left the window. */
  let times: number[] = [];
  let oldest = 0;
  return {
    admit(now) {
      while ((times[oldest] ?? now) <= now - window) oldest++;
      // Keeps at most twice the limit, and seldom copies.
      if (oldest > times.length / 2) {
        times = times.slice(oldest);
        oldest = 0;
      }
      const admitted = times.length - oldest < limit;
      if (admitted) times.push(now);
      return admission(admitted, {
        policy,
        remaining: limit - (times.length - oldest),
        moreAfter: (times[oldest] ?? now) + window - now,
        wholeAfter: (times.at(-1) ?? now) + window - now,
      });
    },
  };
}

export function concurrency({ limit }: { readonly limit: number }): Limiter {
  const policy = { quota: limit, capacity: limit };
  let inFlight = 0;
  return {
    admit() {
      if (inFlight >= limit) return { isAdmitted: false, allowance: { policy, remaining: 0 } };
      inFlight++;
      let isOver = false;
      const release = (): void => {
        if (!isOver) inFlight--;
        isOver = true;
      };
      return { isAdmitted: true, allowance: { policy, remaining: limit - inFlight }, release };
    },
  };
}
