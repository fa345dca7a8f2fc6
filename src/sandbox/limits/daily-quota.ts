import { FixedWindow } from './fixed-window.ts';
import type { Limiter } from './limiter.ts';

export interface DailyQuotaSettings {
  readonly kind: 'daily-quota';
  /** Requests per day. */
  readonly limit: number;
}

/** So many requests from one midnight UTC to the next. */
export function dailyQuota({ limit }: DailyQuotaSettings): Limiter {
  // 1970 began at midnight, and days in milliseconds since then have no leap seconds.
  return new FixedWindow({ kind: 'fixed-window', limit, window: 86_400_000, align: 'clock' });
}
