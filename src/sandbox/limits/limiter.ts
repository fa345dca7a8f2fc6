import { TokenBucket, type TokenBucketSettings } from './token-bucket.ts';

/** Decides which requests the service admits. */
export interface Limiter {
  /** `now` is in milliseconds and never goes back. */
  readonly admit: (now: number) => Admission;
}

export type Admission =
  | { readonly admitted: true }
  /** `retryAfter` is the time until a request can be admitted, in seconds, not rounded. */
  | { readonly admitted: false; readonly retryAfter: number };

/** The settings of a limiter, by its kind; `none` admits every request. */
export type LimitSettings = { readonly kind: 'none' } | TokenBucketSettings;

/** A new limiter, with nothing used up; `undefined` when there is no limit. */
export function createLimiter(settings: LimitSettings): Limiter | undefined {
  switch (settings.kind) {
    case 'none':
      return undefined;
    case 'token-bucket':
      return new TokenBucket(settings);
  }
}
