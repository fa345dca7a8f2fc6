import { Concurrency, type ConcurrencySettings } from './concurrency.ts';
import { type DailyQuotaSettings, dailyQuota } from './daily-quota.ts';
import { FixedWindow, type FixedWindowSettings } from './fixed-window.ts';
import { LeakyBucket, type LeakyBucketSettings } from './leaky-bucket.ts';
import type { Limiter } from './limiter.ts';
import { PerToken } from './per-token.ts';
import { SlidingWindow, type SlidingWindowSettings } from './sliding-window.ts';
import { TokenBucket, type TokenBucketSettings } from './token-bucket.ts';
import { unlimited } from './unlimited.ts';

/** The settings of a limiter, by its kind; `none` admits every request. */
export type LimitSettings = { readonly kind: 'none' } | (KindSettings & { readonly per: LimitScope });

/** The kinds that limit something, with the settings of each. */
export type KindSettings =
  | TokenBucketSettings
  | FixedWindowSettings
  | SlidingWindowSettings
  | LeakyBucketSettings
  | ConcurrencySettings
  | DailyQuotaSettings;

/** Whether all requests share one allowance, or every token has one of its own. */
export type LimitScope = 'all' | 'token';

/** A new limiter, with nothing used up. */
export function createLimiter(settings: LimitSettings): Limiter {
  if (settings.kind === 'none') return unlimited;
  return settings.per === 'token' ? new PerToken(() => limiterOf(settings)) : limiterOf(settings);
}

function limiterOf(settings: KindSettings): Limiter {
  switch (settings.kind) {
    case 'token-bucket':
      return new TokenBucket(settings);
    case 'fixed-window':
      return new FixedWindow(settings);
    case 'sliding-window':
      return new SlidingWindow(settings);
    case 'leaky-bucket':
      return new LeakyBucket(settings);
    case 'concurrency':
      return new Concurrency(settings);
    case 'daily-quota':
      return dailyQuota(settings);
  }
}
