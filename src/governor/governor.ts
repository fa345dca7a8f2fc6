import { Crowd } from './crowd.ts';
import type { Pace } from './pace.ts';
import { RateSearch } from './rate-search.ts';
import { StatedPace, saysExhausted, statedCrowd } from './stated-pace.ts';
import type { Traffic } from './traffic.ts';

/** What an earlier governor has learned of the same API. */
export interface Learned {
  /** Calls per second. */
  readonly rate?: number;
  /** Calls in flight. */
  readonly concurrency?: number;
}

export interface GovernorOptions {
  /** The most calls per second that are ever allowed; absent: no bound. */
  readonly bound?: number;
  readonly concurrency: { readonly start: number; readonly most: number };
  readonly learned?: Learned;
}

export class Governor {
  bound: number | undefined;
  readonly #search: RateSearch;
  readonly #crowd: Crowd;
  readonly #stated = new StatedPace();
  #active = 0;
  #waitUntil = 0;
  #statedCrowd: number | undefined;
  #latencyMs = 50;
  #cutAt = Number.NEGATIVE_INFINITY;

  constructor(now: number, { bound, concurrency, learned }: GovernorOptions) {
    this.bound = bound;
    this.#search = new RateSearch(now, learned?.rate);
    this.#crowd = new Crowd(now, { ...concurrency, start: learned?.concurrency ?? concurrency.start });
  }

  update(now: number, traffic: Traffic): Pace {
    this.#active = traffic.active;
    if (traffic.accepted > 0) this.#latencyMs = traffic.durationMs / traffic.accepted;
    this.#statedCrowd = statedCrowd(traffic) ?? this.#statedCrowd;
    const wasCapped = this.#crowd.capped;
    const explained = this.#crowd.update(now, traffic);
    this.#stated.update(now, traffic.stated, traffic.rejected > 0 && (traffic.rejectedSentAt ?? now) > this.#cutAt);
    if (traffic.rejected > 0) this.#cutAt = now;
    if (traffic.waitUntil !== undefined) this.#waitUntil = Math.max(this.#waitUntil, traffic.waitUntil);
    this.#search.update({
      now,
      accepted: traffic.accepted,
      rejected: explained ? 0 : traffic.rejected,
      ...(traffic.rejectedSentAt !== undefined && { rejectedSentAt: traffic.rejectedSentAt }),
      ...(traffic.waitUntil !== undefined && { waitUntil: traffic.waitUntil }),
      exhausted: saysExhausted(traffic),
      latencyMs: this.#latencyMs,
      bound: this.bound,
    });
    if (this.#crowd.capped && !wasCapped) this.#search.lift(now);
    return this.#pace(now);
  }

  #pace(now: number): Pace {
    const stated = this.#stated.allowed(now, this.#active);
    const rest = Math.max(this.#waitUntil, stated === undefined ? this.#search.restUntil : (stated.restUntil ?? 0));
    const rate = Math.max(stated?.rate ?? this.#search.rate, 1 / 300);
    return {
      rate: Math.min(rate, this.bound ?? rate),
      concurrency: Math.min(this.#crowd.limit, this.#statedCrowd ?? Number.POSITIVE_INFINITY),
      ...(rest > now && { restUntil: rest }),
      phase: stated === undefined ? this.#search.phase : 'stated',
      reason: stated === undefined ? this.#search.reason : 'the API states its limit',
      ...(this.#search.limit !== undefined && { learned: this.#search.limit }),
    };
  }
}
