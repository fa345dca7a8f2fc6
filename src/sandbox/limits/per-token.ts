import type { Admission, Limiter } from './limiter.ts';

/** Gives every token a limiter of its own. */
export class PerToken implements Limiter {
  readonly #create: () => Limiter;
  readonly #limiters = new Map<string, Limiter>();

  constructor(create: () => Limiter) {
    this.#create = create;
  }

  admit(now: number, token: string): Admission {
    let limiter = this.#limiters.get(token);
    if (limiter === undefined) {
      limiter = this.#create();
      this.#limiters.set(token, limiter);
    }
    return limiter.admit(now, token);
  }
}
