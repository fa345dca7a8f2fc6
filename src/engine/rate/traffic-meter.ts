import { steadyNow } from '../../base/async/clock.ts';
import type { ApiAnswer } from '../api/client.ts';
import type { ApiFailure } from '../api/failure.ts';
import type { StatedLimit } from '../api/limits.ts';
import type { TrafficReport } from '../cluster/entries.ts';

/** The server chooses the names of limits: this bounds memory. */
const maxStated = 16;

export interface CallsInFlight {
  readonly calls: number;
  readonly oldestMs: number;
}

export interface MeteredCall {
  readonly sentAt: number;
  /** The calls in flight when a call was sent, with itself, as far as this process knows. */
  readonly inFlightWhenSent: number;
}

export class TrafficMeter {
  /** Receives the time until which the API asks to wait, by the steady clock. */
  onRefused: (waitUntil: number) => void = () => {};
  elsewhere: () => number = () => 0;
  refuses503 = false;
  readonly #calls = new Set<MeteredCall>();
  #acceptedCalls = 0;
  #rejectedCalls = 0;
  #unavailableCalls = 0;
  #durationMs = 0;
  #refusedSentAt: number | undefined;
  #refusedWith: number | undefined;
  #waitUntil = 0;
  #waitBy: string | undefined;
  #acceptedAmong: number | undefined;
  #rejectedAmong: number | undefined;
  readonly #stated = new Map<string, StatedLimit>();

  get active(): number {
    return this.#calls.size;
  }

  get inFlight(): CallsInFlight | undefined {
    const [oldest] = this.#calls;
    return oldest && { calls: this.#calls.size, oldestMs: steadyNow() - oldest.sentAt };
  }

  noteSent(): MeteredCall {
    const call = { sentAt: steadyNow(), inFlightWhenSent: this.#calls.size + 1 + this.elsewhere() };
    this.#calls.add(call);
    return call;
  }

  /** @param answer absent when the client itself failed: that says nothing about the API */
  noteEnd(call: MeteredCall, answer: ApiAnswer | undefined): void {
    this.#calls.delete(call);
    const { sentAt, inFlightWhenSent } = call;
    if (answer === undefined) return;
    for (const limit of answer.limits ?? []) {
      if (this.#stated.has(limit.name) || this.#stated.size < maxStated) this.#stated.set(limit.name, limit);
    }
    if (!answer.ok && answer.failure.class === 'slow-down') this.#noteAskedWait(answer.failure);
    const kind = this.#kindOf(answer);
    if (kind === 'accepted') {
      this.#acceptedCalls += 1;
      this.#durationMs += answer.durationMs;
      this.#acceptedAmong = Math.max(this.#acceptedAmong ?? 0, inFlightWhenSent);
    }
    if (kind === 'unavailable') this.#unavailableCalls += 1;
    // A 503 may prove to be a refusal, and the first refusal shows most about a cap.
    if (kind === 'unavailable' || kind === 'rejected')
      this.#rejectedAmong = Math.min(this.#rejectedAmong ?? inFlightWhenSent, inFlightWhenSent);
    if (kind !== 'rejected') return;
    this.#rejectedCalls += 1;
    this.#refusedWith = answer.ok ? undefined : answer.failure.status;
    this.#refusedSentAt = Math.max(this.#refusedSentAt ?? 0, sentAt);
    this.onRefused(this.#waitUntil);
  }

  noteAskedWait(milliseconds: number): void {
    this.#waitUntil = Math.max(this.#waitUntil, steadyNow() + milliseconds);
    this.onRefused(this.#waitUntil);
  }

  /** @returns whether a wait was forgotten */
  forgetWaits(sentBefore: number): boolean {
    if (this.#waitUntil <= steadyNow() || (this.#refusedSentAt ?? 0) >= sentBefore) return false;
    this.#waitUntil = 0;
    return true;
  }

  /** Reports how calls ended. Extremes, such as `acceptedAmong`, are those since the last report. */
  report(): TrafficReport {
    const now = steadyNow();
    const report: TrafficReport = {
      accepted: this.#acceptedCalls,
      rejected: this.#rejectedCalls,
      unavailable: this.#unavailableCalls,
      durationMs: this.#durationMs,
      active: this.#calls.size,
      ...(this.#refusedSentAt !== undefined && { refusedAgoMs: now - this.#refusedSentAt }),
      ...(this.#refusedWith !== undefined && { refusedWith: this.#refusedWith }),
      ...(this.#waitUntil > now && { waitMs: this.#waitUntil - now, waitBy: this.#waitBy }),
      ...(this.#acceptedAmong !== undefined && { acceptedAmong: this.#acceptedAmong }),
      ...(this.#rejectedAmong !== undefined && { rejectedAmong: this.#rejectedAmong }),
      stated: [...this.#stated.values()],
    };
    this.#acceptedAmong = undefined;
    this.#rejectedAmong = undefined;
    this.#stated.clear();
    return report;
  }

  #noteAskedWait({ waitMs = 0, waitBy }: ApiFailure): void {
    const until = steadyNow() + waitMs;
    if (waitMs === 0 || until < this.#waitUntil) return;
    this.#waitUntil = until;
    this.#waitBy = waitBy;
  }

  #kindOf(answer: ApiAnswer): 'accepted' | 'rejected' | 'unavailable' | 'neither' {
    if (answer.ok) return 'accepted';
    const { failure } = answer;
    if (isRefusal(failure, this.refuses503)) return 'rejected';
    if (isUnavailable(failure)) return 'unavailable';
    // The API let the call through, even if it failed.
    return failure.status === undefined ? 'neither' : 'accepted';
  }
}

/** A failure that leaves its cause open: a limit that only says 503, or an accident. */
export function isUnavailable({ class: failureClass, status, waitMs }: KindOfFailure): boolean {
  return failureClass === 'retry' && status === 503 && waitMs === undefined;
}

/** @param refuses503 whether 503s are known to depend on the rate */
export function isRefusal(failure: KindOfFailure, refuses503: boolean): boolean {
  return failure.class === 'slow-down' || (refuses503 && isUnavailable(failure));
}

export type KindOfFailure = Pick<ApiFailure, 'class' | 'status' | 'waitMs'>;
