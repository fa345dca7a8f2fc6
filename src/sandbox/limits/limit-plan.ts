import { LeakyBucket, type LeakyBucketSettings, TokenBucket, type TokenBucketSettings } from './buckets.ts';
import { Concurrency, type ConcurrencySettings } from './concurrency.ts';
import type { Admission, Limiter } from './limiter.ts';
import {
  type DailyQuotaSettings,
  dailyQuota,
  FixedWindow,
  type FixedWindowSettings,
  SlidingWindow,
  type SlidingWindowSettings,
} from './windows.ts';

/** A limit, and those that take its place one after the other. */
export interface LimitPlan {
  readonly first: LimitSettings;
  readonly changes: readonly LimitChange[];
}

export interface LimitChange {
  /** Milliseconds since the limit before came into force; for the first change, since the first request. */
  readonly after: number;
  readonly limit: LimitSettings;
}

/** The settings of a limiter, by its kind; `none` admits every request. */
export type LimitSettings = { readonly kind: 'none' } | (KindSettings & { readonly per: LimitScope });

type KindSettings =
  | TokenBucketSettings
  | LeakyBucketSettings
  | FixedWindowSettings
  | SlidingWindowSettings
  | ConcurrencySettings
  | DailyQuotaSettings;

/** Whether all requests share one allowance, or every token has one of its own. */
type LimitScope = 'all' | 'token';

/** Follows a plan from the first request on. Each limit starts with nothing used up. */
export class PlannedLimiter implements Limiter {
  readonly #coming: LimitChange[];
  #limiter: Limiter;
  #since: number | undefined;

  constructor({ first, changes }: LimitPlan) {
    this.#limiter = createLimiter(first);
    this.#coming = [...changes];
  }

  admit(now: number, token: string): Admission {
    this.#since ??= now;
    for (let next = this.#coming[0]; next && now >= this.#since + next.after; next = this.#coming[0]) {
      this.#since += next.after;
      this.#limiter = createLimiter(next.limit);
      this.#coming.shift();
    }
    return this.#limiter.admit(now, token);
  }
}

function createLimiter(settings: LimitSettings): Limiter {
  if (settings.kind === 'none') return unlimited;
  return settings.per === 'token' ? perToken(() => limiterOf(settings)) : limiterOf(settings);
}

/** Has nothing to say about what it admits. */
const unlimited: Limiter = { admit: () => ({ admitted: true }) };

/** Gives every token a limiter of its own. */
function perToken(create: () => Limiter): Limiter {
  const limiters = new Map<string, Limiter>();
  return {
    admit(now, token) {
      const limiter = limiters.get(token) ?? create();
      limiters.set(token, limiter);
      return limiter.admit(now, token);
    },
  };
}

function limiterOf(settings: KindSettings): Limiter {
  switch (settings.kind) {
    case 'token-bucket':
      return new TokenBucket(settings);
    case 'leaky-bucket':
      return new LeakyBucket(settings);
    case 'fixed-window':
      return new FixedWindow(settings);
    case 'sliding-window':
      return new SlidingWindow(settings);
    case 'concurrency':
      return new Concurrency(settings);
    case 'daily-quota':
      return dailyQuota(settings);
  }
}
