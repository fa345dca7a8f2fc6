import { createLimiter, type LimitSettings } from './create-limiter.ts';
import type { Admission, Limiter } from './limiter.ts';

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
