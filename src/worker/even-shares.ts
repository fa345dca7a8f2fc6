import { gatesCanKeep } from './allotment.ts';

/** Equal parts are judged by so long a time without a rest: until the limit is found, there is none. */
const judgedMs = 5_000;
/** So much of a rate that is stayed at must be used, and of one that changes: news of it comes late. */
const usedOfSteady = 0.93;
const usedOfChanging = 0.7;
const steadyWithin = 0.02;
/** Then the queue keeps the rate for a while: there whoever is free takes what another worker leaves. */
const queueKeepsMs = 60_000;

/** What was decided for the time since the last update, and what came of it. */
export interface Shared {
  readonly workers: number;
  /** Calls per second. */
  readonly rate: number;
  /** Calls of all workers. */
  readonly sent: number;
  /** Whether a rest was asked for. */
  readonly rests: boolean;
}

/**
 * Whether the gates of the workers keep the rate, each an equal part of it. They spread calls more evenly than the queue
 * does, but a part that its worker does not use, because it is slow or is to have few calls in flight, is lost.
 */
export class EvenShares {
  #queueKeepsUntil = Number.NEGATIVE_INFINITY;
  #since: number;
  #updatedAt: number;
  #workers = 1;
  #sent = 0;
  #allowed = 0;
  #rates: number[] = [];

  constructor(now: number) {
    this.#since = now;
    this.#updatedAt = now;
  }

  update(now: number, { workers, rate, sent, rests }: Shared): boolean {
    const passed = now - this.#updatedAt;
    this.#updatedAt = now;
    const mayKeep = gatesCanKeep(rate, workers) && now >= this.#queueKeepsUntil;
    // Who is alone leaves nothing to others, and before the first row there is nothing to leave.
    const isIdle = sent === 0 && this.#sent === 0;
    if (!mayKeep || rests || isIdle || workers === 1 || workers !== this.#workers) {
      this.#workers = workers;
      this.#begin(now);
      return mayKeep;
    }
    this.#sent += sent;
    this.#allowed += (rate * passed) / 1_000;
    this.#rates.push(rate);
    if (now - this.#since < judgedMs) return true;
    const isSteady = Math.max(...this.#rates) <= Math.min(...this.#rates) * (1 + steadyWithin);
    const isUsed = this.#sent >= (isSteady ? usedOfSteady : usedOfChanging) * this.#allowed;
    this.#begin(now);
    if (!isUsed) this.#queueKeepsUntil = now + queueKeepsMs;
    return isUsed;
  }

  #begin(now: number): void {
    this.#since = now;
    this.#sent = 0;
    this.#allowed = 0;
    this.#rates = [];
  }
}
