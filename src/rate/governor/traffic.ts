import type { StatedLimit } from '../../api/limits.ts';
import type { Cycle } from './known-rates.ts';

/** What the calls of a period have met with, those of all workers together. */
export interface Traffic {
  /** Calls that the API let through, whatever became of them then. */
  readonly accepted: number;
  /** Calls that it refused because they were too many. */
  readonly rejected: number;
  /** Calls that were answered 503 without being asked to wait, and that count as neither. Default 0. */
  readonly unavailable?: number | undefined;
  /** When the latest of the rejected calls was sent, milliseconds of the governor's clock. */
  readonly rejectedSentAt?: number | undefined;
  /** HTTP status of the latest of the rejected calls. */
  readonly rejectedWith?: number | undefined;
  /** Until when the API asks to wait, milliseconds of the governor's clock; the latest of what it asked for. */
  readonly waitUntil?: number | undefined;
  /** Sum of the durations of the accepted calls, milliseconds. */
  readonly durationMs: number;
  /** Calls in flight now. */
  readonly active: number;
  /** The most calls that were in flight, themselves included, when one was sent that was accepted. */
  readonly acceptedAmong?: number | undefined;
  /** The fewest calls that were in flight, themselves included, when one was sent that was rejected or is unavailable. */
  readonly rejectedAmong?: number | undefined;
  /** By how many those two may be off: the API counts at other moments, and each process counts its own. Default 0. */
  readonly amongError?: number | undefined;
  /** What the answers said of the API's limits; the latest of each. */
  readonly stated: readonly StatedLimit[];
}

/** When an update is made, how long after the one before, and how long it takes until a decision shows, milliseconds. */
export interface UpdateTime {
  readonly now: number;
  readonly passedMs: number;
  readonly reactionMs: number;
}

/** Whether the API itself says that calls are too many: by 429, or by asking to wait. */
export function isAboutRate({ rejected, rejectedWith, waitUntil }: Traffic): boolean {
  return (rejected > 0 && rejectedWith !== 503) || waitUntil !== undefined;
}

/** The traffic with its 503s as rejected calls. @param sentAt when they were, about */
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

/** The traffic without its refusals. @param unavailable calls that count as neither accepted nor refused */
export function withoutRefusals(traffic: Traffic, unavailable = traffic.unavailable): Traffic {
  const none = { rejectedSentAt: undefined, rejectedAmong: undefined, rejectedWith: undefined };
  return { ...traffic, ...none, rejected: 0, unavailable };
}

/** What a rate search is told, in time order. Times are milliseconds that never go back. */
export interface RateNews {
  readonly now: number;
  readonly accepted: number;
  readonly rejected: number;
  /** Calls that it accepted while the search stood still: they use up its allowance, and say nothing of the rate. */
  readonly acceptedAside: number;
  /** Calls that the API says are still permitted, where it says so and that is all that is known of its limit. */
  readonly remaining: number | undefined;
  /** Calls in flight, which it may not have counted yet. */
  readonly active: number;
  /** Until when the API has asked to wait; 0 if it never has. */
  readonly waitUntil: number;
  /** Until when no call was to be made, for any reason. */
  readonly restUntil: number;
  /** Mean duration of a call, and for how long calls are still sent as was decided before, milliseconds. */
  readonly latencyMs: number;
  readonly lagMs: number;
  /** The most calls per second that may be made. */
  readonly most: number;
  /** Rows that are left to be called, as far as is known. */
  readonly rows: number;
}

/** The rate at which calls are sent is a mean of about so many calls, and of no less time. */
const meanOfCalls = 10;
const meanOfMs = 500;

/** Counts what was accepted, and how fast calls are sent. */
export class CallTally {
  #accepted = 0;
  #waitedMs = 0;
  /** Calls sent and the time it took, the longer ago the less they count. */
  #sent = 0;
  #sentMs = 0;
  /** Calls that were allowed in that time, which count likewise. */
  #allowed = 0;
  /** When the allowance was used up last, and what had been accepted and waited until then. */
  #empty: { readonly at: number; readonly accepted: number; readonly waitedMs: number } | undefined;

  get accepted(): number {
    return this.#accepted;
  }

  /** @param rate calls per second that were allowed meanwhile. */
  count(
    { accepted, rejected }: Pick<RateNews, 'accepted' | 'rejected'>,
    passedMs: number,
    rate: number,
  ): void {
    this.#accepted += accepted;
    const sent = accepted + rejected;
    // That nothing was called before the first row came tells nothing.
    if (sent === 0 && this.#sent === 0) return;
    const kept = Math.exp(-passedMs / Math.max(meanOfMs, (meanOfCalls * 1_000) / rate));
    this.#sent = this.#sent * kept + sent;
    this.#sentMs = this.#sentMs * kept + passedMs;
    this.#allowed = this.#allowed * kept + (rate * passedMs) / 1_000;
  }

  /** Calls that were accepted, and were none of the rate. */
  countAside(accepted: number): void {
    this.#accepted += accepted;
  }

  /** The API had asked to wait for so long. */
  waited(ms: number): void {
    this.#waitedMs += ms;
  }

  /** What the API allows was used up at this time. */
  markEmpty(now: number): void {
    this.#empty = { at: now, accepted: this.#accepted, waitedMs: this.#waitedMs };
  }

  /** Less was sent than is allowed, so that what was gained since is not known. */
  forgetEmpty(): void {
    this.#empty = undefined;
  }

  /** Calls sent per second of late; 0 when nothing is known. */
  get sentPerSecond(): number {
    return this.#sentMs === 0 ? 0 : (this.#sent * 1_000) / this.#sentMs;
  }

  /** The part of a rate that is used of late: of what was allowed meanwhile where that is less, as while it rises. */
  usedShareOf(rate: number): number {
    const allowed = Math.min(this.#allowed, (rate * this.#sentMs) / 1_000);
    return allowed === 0 ? 0 : this.#sent / allowed;
  }

  /** From then on, when the allowance had been used up before; undefined: it never had. */
  cycle(now: number): Cycle | undefined {
    if (this.#empty === undefined) return undefined;
    const waitedSeconds = (this.#waitedMs - this.#empty.waitedMs) / 1_000;
    return {
      accepted: this.#accepted - this.#empty.accepted,
      activeSeconds: (now - this.#empty.at) / 1_000 - waitedSeconds,
      waitedSeconds,
    };
  }
}

const usualLatencyMs = 50;
/** Longer gaps between two updates say that the process was suspended, not how late news is. */
const longestGapMs = 1_000;
const gapSmoothing = 0.2;
/**
 * Several workers hear of a decision that much later, and have taken slots before (three of them, windows of a second; a
 * limit that drops to a fifth).
 */
const heardLateMs = 100;

/** How long it takes until a decision shows in what is reported: the way there, a call, and the way back. */
export class Reaction {
  #latencyMs = usualLatencyMs;
  #gapMs = 0;
  #othersMs = 0;
  #updatedAt: number;

  constructor(now: number) {
    this.#updatedAt = now;
  }

  update(now: number, { accepted, durationMs, amongError = 1 }: Traffic): void {
    this.#othersMs = amongError > 1 ? heardLateMs : 0;
    if (accepted > 0) this.#latencyMs = durationMs / accepted;
    this.#gapMs += (Math.min(now - this.#updatedAt, longestGapMs) - this.#gapMs) * gapSmoothing;
    this.#updatedAt = now;
  }

  /** Mean duration of a call of late, milliseconds. */
  get latencyMs(): number {
    return this.#latencyMs;
  }

  /** How long calls are still sent as was decided before, milliseconds. */
  get lagMs(): number {
    return this.#gapMs / 2 + this.#othersMs;
  }

  /** Milliseconds until a decision shows. */
  get ms(): number {
    return this.#latencyMs + this.lagMs;
  }
}
