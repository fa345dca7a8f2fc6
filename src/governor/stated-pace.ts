import type { StatedLimit } from '../api/limits/stated-limit.ts';
import type { Traffic } from './traffic.ts';

/** The end of a shorter window is told in whole seconds, too coarsely to plan with. */
const shortWindowMs = 5_000;
/** Clocks and journeys differ: just below what is permitted. */
const caution = 0.985;
/** Names of limits come from the server. */
const maxLimits = 16;
const forgottenAfterMs = 120_000;
const rollingMs = 60_000;
/** So many rejections within ten seconds, and what the API states can't be all of it: not believed for a minute. */
const contradictions = 4;
const distrustMs = 60_000;

/** One limit, as the answers have told of it so far. */
interface KnownLimit {
  readonly quota?: number;
  /** Length of the window, where it is told. */
  readonly windowMs?: number;
  readonly remaining?: number;
  /** When further calls are permitted: the earliest time that fits all that was said of this window. */
  readonly resetAt?: number;
  /** Whether this window was long enough to plan with when it was first seen. */
  readonly long: boolean;
  /** Until when the reset counts as one that moves along with the calls, as that of a bucket or a sliding window does. */
  readonly rollingUntil: number;
  readonly seenAt: number;
}

/** What the API's own words allow. */
export interface StatedRate {
  /** Calls per second. */
  readonly rate: number;
  /** When more are permitted, if none is now. */
  readonly restUntil?: number;
}

/**
 * The rate that the API's own words allow:
 *
 * - quota and a short window are spread evenly;
 * - in a longer window, what remains is spread over what is left of it;
 * - anything less says too little, and the rate is searched for; `exhausted` then warns before calls are refused.
 */
export class StatedPace {
  readonly #limits = new Map<string, KnownLimit>();
  #rejections: number[] = [];
  #distrustedUntil = Number.NEGATIVE_INFINITY;

  /** @param unexpected whether calls were rejected that kept to what was stated. */
  update(now: number, stated: Traffic['stated'], unexpected: boolean): void {
    for (const limit of stated) if (limit.unit === 'requests') this.#see(now, limit);
    for (const [name, { seenAt }] of this.#limits)
      if (seenAt < now - forgottenAfterMs) this.#limits.delete(name);
    if (unexpected) this.#rejections.push(now);
    while ((this.#rejections[0] ?? now) < now - 10_000) this.#rejections.shift();
    if (this.#rejections.length < contradictions) return;
    this.#distrustedUntil = now + distrustMs;
    this.#rejections = [];
  }

  /**
   * The rate that keeps to every limit; undefined when none says enough.
   *
   * @param active calls in flight: what remains may not count them yet.
   */
  allowed(now: number, active: number): StatedRate | undefined {
    if (now < this.#distrustedUntil) return undefined;
    let allowed: StatedRate | undefined;
    for (const limit of this.#limits.values()) {
      const own = rateOf(limit, now, active);
      if (own === undefined) continue;
      const restUntil = Math.max(own.restUntil ?? 0, allowed?.restUntil ?? 0);
      allowed = {
        rate: Math.min(own.rate, allowed?.rate ?? own.rate),
        ...(restUntil > 0 && { restUntil }),
      };
    }
    return allowed;
  }

  #see(now: number, { name, quota, windowMs, remaining, resetMs }: StatedLimit): void {
    const known = this.#limits.get(name);
    if (known === undefined && this.#limits.size >= maxLimits) return;
    const told = resetMs === undefined ? undefined : now + resetMs;
    const before = known?.resetAt;
    const over = before === undefined || now >= before - 1_000;
    // The end of a window stays where it is, but for its rounding to whole seconds.
    const rolls = told !== undefined && !over && told > before + 1_500;
    const isNew = told !== undefined && (rolls || before === undefined || (over && told > before + 500));
    const resetAt = told === undefined || isNew ? told : Math.min(told, before ?? told);
    this.#limits.set(name, {
      ...(quota !== undefined && { quota }),
      ...(windowMs !== undefined && { windowMs }),
      ...(remaining !== undefined && { remaining }),
      ...(resetAt !== undefined && { resetAt }),
      long: isNew ? (resetMs ?? 0) > shortWindowMs : (known?.long ?? false),
      rollingUntil: rolls ? now + rollingMs : (known?.rollingUntil ?? 0),
      seenAt: now,
    });
  }
}

/** Whether an answer says that no more calls than those in flight are permitted. */
export function saysExhausted({ stated, active }: Traffic): boolean {
  return stated.some(
    // Without a time, it may be the calls in flight that are counted.
    ({ unit, remaining, resetMs }) =>
      unit === 'requests' && resetMs !== undefined && remaining !== undefined && remaining < Math.max(1, active),
  );
}

/** The fewest calls in flight that an answer says are permitted. */
export function statedCrowd({ stated }: Traffic): number | undefined {
  const quotas = stated.flatMap(({ unit, quota }) =>
    unit === 'concurrent-requests' && quota !== undefined ? [quota] : [],
  );
  return quotas.length === 0 ? undefined : Math.min(...quotas);
}

function rateOf(limit: KnownLimit, now: number, active: number): StatedRate | undefined {
  const { quota, windowMs, remaining, resetAt } = limit;
  const even =
    quota === undefined || windowMs === undefined ? undefined : { rate: (caution * quota * 1_000) / windowMs };
  const canPlan =
    remaining !== undefined && resetAt !== undefined && resetAt > now && now >= limit.rollingUntil;
  if (!canPlan || !(windowMs === undefined ? limit.long : windowMs > shortWindowMs)) return even;
  const free = remaining - active;
  if (remaining === 0) return { rate: 1, restUntil: resetAt };
  return { rate: (Math.max(free, 0.5) * 1_000) / Math.max(resetAt - now, 250) };
}
