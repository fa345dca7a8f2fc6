import type { Admission, Limiter } from './limiter.ts';
import { type Policy, ratePolicy } from './policy.ts';

export interface TokenBucketSettings {
  readonly kind: 'token-bucket';
  /** Tokens that flow in per second. */
  readonly rate: number;
  /** Tokens that the bucket holds: so many requests are admitted at once after a rest. */
  readonly burst: number;
}

/** Each admitted request takes a token, refused ones take none. The bucket starts full. */
export class TokenBucket implements Limiter {
  readonly #settings: TokenBucketSettings;
  readonly #policy: Policy;
  #tokens: number;
  #filledAt: number | undefined;

  constructor(settings: TokenBucketSettings) {
    this.#settings = settings;
    this.#policy = ratePolicy(settings.rate, settings.burst);
    this.#tokens = settings.burst;
  }

  admit(now: number): Admission {
    const { rate, burst } = this.#settings;
    const elapsed = (now - (this.#filledAt ?? now)) / 1000;
    this.#tokens = Math.min(burst, this.#tokens + elapsed * rate);
    this.#filledAt = now;
    const admitted = this.#tokens + rounding >= 1;
    if (admitted) this.#tokens -= 1;
    const remaining = Math.floor(this.#tokens + rounding);
    const nextToken = (Math.min(remaining + 1, burst) - this.#tokens) / rate;
    const allowance = {
      policy: this.#policy,
      remaining,
      moreAfter: nextToken * 1000,
      wholeAfter: ((burst - this.#tokens) / rate) * 1000,
    };
    return admitted ? { admitted, allowance } : { admitted, allowance, retryAfter: nextToken };
  }
}

/** Tokens are counted in floating point: a sum of tenths must still make a whole token. */
const rounding = 1e-9;
