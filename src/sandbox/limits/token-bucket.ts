import type { Admission, Limiter } from './limiter.ts';

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
  #tokens: number;
  #filledAt: number | undefined;

  constructor(settings: TokenBucketSettings) {
    this.#settings = settings;
    this.#tokens = settings.burst;
  }

  admit(now: number): Admission {
    const { rate, burst } = this.#settings;
    const elapsed = (now - (this.#filledAt ?? now)) / 1000;
    this.#tokens = Math.min(burst, this.#tokens + elapsed * rate);
    this.#filledAt = now;
    if (this.#tokens + rounding < 1) return { admitted: false, retryAfter: (1 - this.#tokens) / rate };
    this.#tokens -= 1;
    return { admitted: true };
  }
}

/** Tokens are counted in floating point: a sum of tenths must still make a whole token. */
const rounding = 1e-9;
