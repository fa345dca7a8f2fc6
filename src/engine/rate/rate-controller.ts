import { noticeableRestMs, type Pace, type StartingPoint } from '../../domain/pace.ts';
import type { CommonPolicy } from '../cluster/rate-policy.ts';
import { mostConcurrency, usualConcurrency } from './governor/concurrency-limit.ts';
import { Governor } from './governor/governor.ts';
import { inUse, reasons } from './governor/pace-reasons.ts';
import type { Traffic } from './governor/traffic.ts';

export { mostConcurrency, usualConcurrency };

/** A limit that the workers do not reach for this long is lifted: slots would only delay calls. */
const idleAfterMs = 2_000;

/** Decides how an API may be called, from results and the runs' policies: pure, on the caller's clock. */
export class RateController {
  readonly #governor: Governor;
  #lookedAt: number;
  #idleSince: number;
  #sentPerSecond = 0;

  constructor(now: number, startingPoint: StartingPoint) {
    this.#lookedAt = now;
    this.#idleSince = now;
    this.#governor = new Governor(now, startingPoint);
  }

  testBy(now: number, at: number): void {
    this.#governor.testBy(now, at);
  }

  /**
   * @param workers that call the API
   * @param rows still to be called; absent: unknown
   */
  update(
    now: number,
    traffic: Traffic,
    { auto, perSecond }: CommonPolicy,
    workers: number,
    rows = Number.POSITIVE_INFINITY,
  ): Pace {
    this.#governor.bound = perSecond;
    this.#governor.rows = rows;
    // The calls of other workers are known only roughly, and the API counts even ours at other moments.
    const pace = this.#governor.update(now, { ...traffic, amongError: workers });
    if (auto) {
      const isIdle = this.#isIdle(now, traffic, pace);
      return {
        ...pace,
        isKept: (pace.isKept && !isIdle) || perSecond !== undefined,
        rate: (isIdle && perSecond) || pace.rate,
      };
    }
    const { waitUntil = 0, waitBy } = traffic;
    const waits = waitUntil > now;
    const usualReason = perSecond === undefined ? reasons.unlimited : reasons.requested;
    return {
      rate: perSecond,
      isKept: perSecond !== undefined,
      concurrency: perSecond === undefined ? usualConcurrency : pace.concurrency,
      restUntil: waits ? waitUntil : undefined,
      restBy: waits ? waitBy : undefined,
      phase: 'fixed',
      refuses503: false,
      reason: waitUntil - now >= noticeableRestMs ? reasons.asked : usualReason,
    };
  }

  /** No limit is known, and something else limits the workers. */
  #isIdle(now: number, { accepted, rejected, unavailable = 0 }: Traffic, { phase, rate = 0 }: Pace): boolean {
    const sent = accepted + rejected + unavailable;
    const seconds = (now - this.#lookedAt) / 1_000;
    this.#lookedAt = now;
    this.#sentPerSecond += (sent / Math.max(seconds, 0.001) - this.#sentPerSecond) * Math.min(1, seconds);
    const isUsed = this.#sentPerSecond > inUse * rate;
    // A worker without rows is not slowed down. Refusals because of a cap say nothing about the rate.
    const isRefused = rejected > 0 && !this.#governor.capped;
    if (phase !== 'starting' || isRefused || isUsed || this.#sentPerSecond < 1) this.#idleSince = now;
    return now - this.#idleSince >= idleAfterMs;
  }
}
