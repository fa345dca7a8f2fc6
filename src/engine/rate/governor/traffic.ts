import type { StatedLimit } from '../../api/limits.ts';
import type { Cycle } from './known-rates.ts';

/** How the calls of a period ended, for all workers together. Times are milliseconds of the governor's clock. */
export interface Traffic {
  /** Calls that the API let through, whether they then succeeded or not. */
  readonly accepted: number;
  readonly rejected: number;
  /** Calls answered with 503 and no waiting time: neither accepted nor rejected. Default 0. */
  readonly unavailable?: number | undefined;
  /** The latest rejected call. */
  readonly rejectedSentAt?: number | undefined;
  /** The HTTP status of the latest rejected call. */
  readonly rejectedWith?: number | undefined;
  readonly waitUntil?: number | undefined;
  /** What asks for a wait longer than a minute: see `AskedWait`. */
  readonly waitBy?: string | undefined;
  /** The durations of the accepted calls, added up. */
  readonly durationMs: number;
  readonly active: number;
  /** The most calls in flight, itself included, when an accepted call was sent. */
  readonly acceptedAmong?: number | undefined;
  /** The fewest calls in flight, itself included, when a rejected or unavailable call was sent. */
  readonly rejectedAmong?: number | undefined;
  /** The error of these two counts. Default 0. */
  readonly amongError?: number | undefined;
  readonly stated: readonly StatedLimit[];
}

/** Milliseconds: now, since the previous update, and until a decision shows. */
export interface UpdateTime {
  readonly now: number;
  readonly passedMs: number;
  readonly reactionMs: number;
}

/** The API reports too many calls by a 429, or asks to wait. */
export function isAboutRate({ rejected, rejectedWith, waitUntil }: Traffic): boolean {
  return (rejected > 0 && rejectedWith !== 503) || waitUntil !== undefined;
}

/** @param sentAt roughly when the 503s were sent */
export function asRejected(traffic: Traffic, sentAt: number): Traffic {
  const { rejected, unavailable = 0 } = traffic;
  if (unavailable === 0) return traffic;
  return {
    ...traffic,
    rejected: rejected + unavailable,
    unavailable: 0,
    rejectedWith: traffic.rejectedWith ?? 503,
    rejectedSentAt: traffic.rejectedSentAt ?? sentAt,
  };
}

/** @param unavailable calls that count as neither accepted nor refused */
export function withoutRefusals(traffic: Traffic, unavailable = traffic.unavailable): Traffic {
  const none = { rejectedSentAt: undefined, rejectedAmong: undefined, rejectedWith: undefined };
  return { ...traffic, ...none, rejected: 0, unavailable };
}

/** Times are milliseconds that never go back. */
export interface RateInput {
  readonly now: number;
  readonly accepted: number;
  readonly rejected: number;
  /** Calls accepted while the search stood still: they use up the allowance, and say nothing about the rate. */
  readonly acceptedAside: number;
  readonly remaining: number | undefined;
  /** Calls in flight, which the API may not have counted yet. */
  readonly callsInFlight: number;
  /** The end of the wait for which the API asked; 0 if it never asked. */
  readonly waitUntil: number;
  readonly restUntil: number;
  /** Mean duration of a call, and how long calls still leave as decided earlier. */
  readonly latencyMs: number;
  readonly lagMs: number;
  readonly mostPerSecond: number;
  readonly rows: number;
}

/** The sending rate is a mean over about this many calls, and at least this time. */
const meanOfCalls = 10;
const meanOfMs = 500;

export class CallTally {
  #acceptedCalls = 0;
  #waitedMs = 0;
  #sentCalls = 0;
  #sentMs = 0;
  #allowed = 0;
  /** When the allowance was last used up, and the calls and waits until then. */
  #whenUsedUp: { readonly at: number; readonly accepted: number; readonly waitedMs: number } | undefined;

  get acceptedCalls(): number {
    return this.#acceptedCalls;
  }

  /** @param rate allowed meanwhile, calls/s */
  count(
    { accepted, rejected }: Pick<RateInput, 'accepted' | 'rejected'>,
    passedMs: number,
    rate: number,
  ): void {
    this.#acceptedCalls += accepted;
    const sent = accepted + rejected;
    if (sent === 0 && this.#sentCalls === 0) return;
    const kept = Math.exp(-passedMs / Math.max(meanOfMs, (meanOfCalls * 1_000) / rate));
    this.#sentCalls = this.#sentCalls * kept + sent;
    this.#sentMs = this.#sentMs * kept + passedMs;
    this.#allowed = this.#allowed * kept + (rate * passedMs) / 1_000;
  }

  /** Calls at another rate: the mean of the calls before is outdated. */
  countAside(accepted: number): void {
    this.#acceptedCalls += accepted;
    if (accepted === 0) return;
    this.#sentCalls = 0;
    this.#sentMs = 0;
    this.#allowed = 0;
  }

  waited(ms: number): void {
    this.#waitedMs += ms;
  }

  markEmpty(now: number): void {
    this.#whenUsedUp = { at: now, accepted: this.#acceptedCalls, waitedMs: this.#waitedMs };
  }

  /** Forgets when the allowance was used up: less was sent than is allowed, so the gain since then is unknown. */
  forgetEmpty(): void {
    this.#whenUsedUp = undefined;
  }

  /** The rate at which calls were sent lately; 0 when nothing is known. */
  get sentPerSecond(): number {
    return this.#sentMs === 0 ? 0 : (this.#sentCalls * 1_000) / this.#sentMs;
  }

  /** The used share of a rate, or of the allowed calls if these were fewer, as while the rate rises. */
  usedShareOf(rate: number): number {
    const allowed = Math.min(this.#allowed, (rate * this.#sentMs) / 1_000);
    return allowed === 0 ? 0 : this.#sentCalls / allowed;
  }

  /** What was accepted since the allowance was last used up. Undefined when it never was. */
  cycle(now: number): Cycle | undefined {
    if (this.#whenUsedUp === undefined) return undefined;
    const waitedSeconds = (this.#waitedMs - this.#whenUsedUp.waitedMs) / 1_000;
    return {
      acceptedCalls: this.#acceptedCalls - this.#whenUsedUp.accepted,
      activeSeconds: (now - this.#whenUsedUp.at) / 1_000 - waitedSeconds,
      waitedSeconds,
    };
  }
}

const assumedLatencyMs = 50;
/** A longer gap between updates means a suspended process, not late reports. */
const longestGapMs = 1_000;
const gapSmoothing = 0.2;
/** With several workers, decisions arrive later, and slots are already taken (three workers, windows of a second). */
const sharedDelayMs = 100;

/** How long until a decision shows in the reports: the way there, a call, and the way back. */
export class Reaction {
  #latencyMs = assumedLatencyMs;
  #gapMs = 0;
  #sharedDelayMs = 0;
  #updatedAt: number;

  constructor(now: number) {
    this.#updatedAt = now;
  }

  update(now: number, { accepted, durationMs, amongError = 1 }: Traffic): void {
    this.#sharedDelayMs = amongError > 1 ? sharedDelayMs : 0;
    if (accepted > 0) this.#latencyMs = durationMs / accepted;
    this.#gapMs += (Math.min(now - this.#updatedAt, longestGapMs) - this.#gapMs) * gapSmoothing;
    this.#updatedAt = now;
  }

  get latencyMs(): number {
    return this.#latencyMs;
  }

  get lagMs(): number {
    return this.#gapMs / 2 + this.#sharedDelayMs;
  }

  get ms(): number {
    return this.#latencyMs + this.lagMs;
  }
}
