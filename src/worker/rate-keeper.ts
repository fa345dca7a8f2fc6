import type { Pace } from '../governor/pace.ts';
import type { Traffic } from '../governor/traffic.ts';
import { withHeadroom } from './allotment.ts';
import { EvenShares } from './even-shares.ts';
import { RateTrim } from './rate-trim.ts';
import { Turns } from './turns.ts';

/** Who calls, and how fast that may be at most. */
export interface Bounds {
  /** Workers that call the API. */
  readonly workers: number;
  /** Calls per second. */
  readonly most: number;
}

/** How a rate is kept. */
export interface Kept {
  /** Whether the gates of the workers keep it, each an equal part of it, or the queue. */
  readonly gatesKeep: boolean;
  /** Calls per second that the queue is to let out for that. */
  readonly asked: number;
  /** Where several gates keep it: when it was the turn of the first of them, by the clock of whoever asks. */
  readonly turnAt?: number;
}

/** Decides who keeps the rate that the governor wants: pure, on the clock of whoever asks. */
export class RateKeeper {
  readonly #shares: EvenShares;
  readonly #trim: RateTrim;
  readonly #turns: Turns;

  constructor(now: number) {
    this.#shares = new EvenShares(now);
    this.#trim = new RateTrim(now);
    this.#turns = new Turns(now);
  }

  /** @param traffic since the last time */
  update(now: number, { accepted, rejected }: Traffic, pace: Pace, { workers, most }: Bounds): Kept {
    const { phase, rate, restUntil } = pace;
    const sent = accepted + rejected;
    // Who is refused, or tries fewer calls in flight for it, does not use the rate for that reason.
    const rests = restUntil !== undefined || rejected > 0;
    const canKeep = this.#shares.update(now, { workers, rate, sent, rests });
    // What the user allows is kept by the queue, which knows of every call; what is lost there is not made up for later.
    const isBelow = rate < most;
    const gatesKeep = canKeep && isBelow;
    const isSteady = (phase === 'stated' || phase === 'holding') && isBelow;
    const trimmed = this.#trim.apply(now, sent, rate, isSteady && !gatesKeep);
    if (!gatesKeep) return { gatesKeep, asked: Math.min(trimmed, most) };
    const turnAt = this.#turns.update(now, rate, workers);
    return { gatesKeep, asked: Math.min(withHeadroom(rate), most), ...(workers > 1 && { turnAt }) };
  }
}
