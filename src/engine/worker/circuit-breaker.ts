import type { Blame, Halt, HealthEvidence, Refused, Trouble } from './health-evidence.ts';

export interface CircuitBreakerOptions {
  /** Absent: no limit. */
  readonly maxOutageMs?: number | undefined;
  /** `prefetchLimit` may have changed. */
  readonly onChange: () => void;
  /** Called once, when the breaker admits no more calls. */
  readonly onHalt: (halt: Halt) => void;
}

/** An unproven API has this many calls, or this much time, to answer a call. */
const unprovenCalls = 20;
const unprovenMs = 30_000;
/** Consecutive failed calls that are an outage, or fewer over a longer time. The restart of a server is no outage. */
const manyCalls = 20;
const manyCallsMs = 2_000;
const severalCalls = 5;
const severalCallsMs = 10_000;
/** After this long with nothing left to call, the API is judged by the calls so far. The first rows may take longer to arrive. */
const idleMs = { unproven: 5_000, proven: 1_000 };
/** Pauses between test calls, as a share of the outage so far. */
const testAfterPart = 0.25;
const shortestTestMs = 1_000;
const longestTestMs = 15_000;
/** The most that counts between two refusals: the API may have asked for a longer wait. */
const longestRefusalMs = 60_000;
/** After this long, users are told what the run waits for. */
const noticedMs = 4_000;
/** With this many rows in hand again, a worker has recovered. */
const mostRecovering = 200;

/**
 * Distinguishes trouble of the API from trouble of a row. While rows fail and no call is answered, their verdicts are held back: the next
 * calls show what to blame.
 *
 * ```
 *              answered              calls in a row have failed
 *   unproven ────────────▶ closed ──────────────────────────────▶ open ◀─┐
 *      │                     ▲                                    │ │ └──┘ a single call has failed:
 *      │                     └──────── a single call was answered ┘ │      the next one later
 *      │ 20 calls failed, or 30 s                                   │
 *      └──────────────────────────▶ halted ◀────────────────────────┘ longer than `maxOutageMs`
 * ```
 *
 * It also halts when the API has refused (429, 503) every call for longer than `maxOutageMs`.
 *
 * `closed` releases the held verdicts at the next answer: each row has its own trouble then. `open` and `halted` blame the API. After an
 * outage the rows in hand double with each round of answers.
 */
export class CircuitBreaker {
  readonly #options: CircuitBreakerOptions;
  #state: 'unproven' | 'closed' | 'open' | 'halted' = 'unproven';
  /** Rows between `begin` and `end`. */
  #inHand = 0;
  /** Failed calls of an unproven API that are no longer held. */
  #spent = 0;
  #firstCallAt: number | undefined;
  #streak: { calls: number; readonly since: number; latest: Trouble } | undefined;
  #refusals: { readonly calls: number; readonly lastedMs: number; readonly lastAt: number } | undefined;
  readonly #held: { readonly trouble: Trouble; readonly release: (blame: Blame) => void }[] = [];
  #recovering = Number.POSITIVE_INFINITY;
  #nextTestAt = 0;
  #test: { readonly timer: NodeJS.Timeout; readonly resolve: (admitted: boolean) => void } | undefined;
  #decision: NodeJS.Timeout | undefined;
  #idle: NodeJS.Timeout | undefined;
  #limit: NodeJS.Timeout | undefined;
  #closed = false;
  #afterHalt: Blame = 'halted';

  constructor(options: CircuitBreakerOptions) {
    this.#options = options;
  }

  /** `testMs`: until the next test call. Rows that have waited for their verdicts for seconds also show an outage. */
  get outage(): { readonly trouble: Trouble; readonly testMs: number } | undefined {
    if (this.#streak === undefined) return undefined;
    const { latest: trouble, since } = this.#streak;
    const now = performance.now();
    if (this.#state === 'open') return { trouble, testMs: Math.max(0, this.#nextTestAt - now) };
    return this.#held.length > 0 && now - since >= noticedMs ? { trouble, testMs: 0 } : undefined;
  }

  /** The API is known to answer as the service does. */
  prove(): void {
    if (this.#state !== 'unproven') return;
    this.#state = 'closed';
    this.#decide();
    this.#options.onChange();
  }

  /** Rows to have in hand if `wanted` are needed; at most `unproven` while nothing is known about the API. */
  prefetchLimit(wanted: number, unproven: number): number {
    if (this.#state === 'unproven') return Math.max(1, Math.min(unproven, unprovenCalls - this.#spent));
    if (this.#state !== 'closed') return 1;
    return Math.min(wanted, this.#recovering) + Math.min(this.#held.length, manyCalls);
  }

  /** For a claimed row; call `end` when it has a verdict. */
  begin(): void {
    this.#inHand += 1;
    this.#watchIdle();
  }

  end(): void {
    this.#inHand -= 1;
    this.#watchIdle();
  }

  /** Waits, possibly for long. False: the call must not be made now. */
  admit(): boolean | Promise<boolean> {
    if (this.#closed || this.#state === 'halted') return false;
    this.#firstCallAt ??= performance.now();
    if (this.#state !== 'open') return true;
    if (this.#test !== undefined) return false;
    return new Promise((resolve) => {
      const timer = setTimeout(() => this.#endTest(true), this.#nextTestAt - performance.now());
      this.#test = { timer, resolve };
    });
  }

  assess(evidence: HealthEvidence): Blame | Promise<Blame> {
    if (this.#state === 'halted') return this.#afterHalt;
    if (this.#closed) return isDoubtful(evidence) || this.#state === 'open' ? 'halted' : 'row';
    if (evidence.kind === 'none') {
      if (this.#state === 'open') this.#testLater();
      return 'row';
    }
    if (evidence.kind === 'refused') {
      this.#refused(evidence);
      return 'row';
    }
    if (evidence.kind === 'answered' || (evidence.cause === 'path' && this.#state !== 'unproven')) {
      this.#refusals = undefined;
      this.#answered();
      return 'row';
    }
    this.#streak ??= { calls: 0, since: performance.now(), latest: evidence };
    if (evidence.cause !== 'either' || !evidence.repeated) this.#streak.calls += 1;
    this.#streak.latest = evidence;
    if (this.#state === 'open') {
      this.#testLater();
      return 'target';
    }
    return new Promise((release) => {
      this.#held.push({ trouble: evidence, release });
      this.#decide();
      this.#watchIdle();
      this.#options.onChange();
    });
  }

  close(): void {
    this.#closed = true;
    clearTimeout(this.#decision);
    clearTimeout(this.#limit);
    this.#endTest(false);
    this.#release('halted');
  }

  #refused({ path, failure }: Refused): void {
    const now = performance.now();
    const {
      calls,
      lastedMs: lastedBeforeMs,
      lastAt,
    } = this.#refusals ?? { calls: 0, lastedMs: 0, lastAt: now };
    const lastedMs = lastedBeforeMs + Math.min(now - lastAt, longestRefusalMs);
    this.#refusals = { calls: calls + 1, lastedMs, lastAt: now };
    const { maxOutageMs = Number.POSITIVE_INFINITY } = this.#options;
    if (lastedMs > maxOutageMs)
      this.#halt({ because: 'refusals', path, failure, calls: calls + 1, lastedMs });
    else if (failure.status === 429) this.#answered();
    else if (this.#state === 'open') this.#testLater();
  }

  #answered(): void {
    const lastState = this.#state;
    this.#state = 'closed';
    this.#streak = undefined;
    if (lastState === 'open') {
      clearTimeout(this.#limit);
      this.#recovering = 1;
    }
    this.#recovering = this.#recovering >= mostRecovering ? Number.POSITIVE_INFINITY : this.#recovering + 1;
    const changes = lastState !== 'closed' || this.#held.length > 0 || this.#recovering <= mostRecovering;
    this.#release('row');
    if (changes) this.#options.onChange();
  }

  /** Schedules the next decision unless enough calls have failed. */
  #decide(): void {
    clearTimeout(this.#decision);
    if (this.#streak === undefined || this.#closed) return;
    const now = performance.now();
    const { calls, since, latest } = this.#streak;
    let at = Number.POSITIVE_INFINITY;
    if (this.#state === 'unproven') {
      const isCertain = calls >= unprovenCalls || latest.failure.code === 'TLS_ERROR';
      if (isDoubtful(latest) || calls >= severalCalls) at = (this.#firstCallAt ?? since) + unprovenMs;
      if (isCertain) at = now;
    } else if (this.#state === 'closed') {
      if (calls >= severalCalls) at = since + severalCallsMs;
      if (calls >= manyCalls) at = Math.min(at, since + manyCallsMs);
    }
    if (at <= now) this.#trip();
    else if (at < Number.POSITIVE_INFINITY) {
      this.#decision = setTimeout(() => this.#decide(), Math.ceil(at - now));
      this.#decision.unref();
    }
  }

  #trip(): void {
    if (this.#state === 'unproven') this.#giveUp('unproven');
    else this.#open();
  }

  #open(): void {
    this.#state = 'open';
    const { maxOutageMs } = this.#options;
    const lastedMs = performance.now() - (this.#streak?.since ?? 0);
    if (maxOutageMs !== undefined) {
      this.#limit = setTimeout(() => this.#giveUp('outage'), Math.max(0, maxOutageMs - lastedMs));
      this.#limit.unref();
    }
    this.#testLater();
    this.#release('target');
    this.#options.onChange();
  }

  #giveUp(because: 'unproven' | 'outage'): void {
    if (this.#streak === undefined) return;
    const { calls, since, latest } = this.#streak;
    const { path, failure } = latest;
    if (because === 'unproven') this.#afterHalt = 'unproven';
    this.#halt({ because, path, failure, calls, lastedMs: performance.now() - since });
  }

  #halt(halt: Halt): void {
    this.#state = 'halted';
    this.#endTest(false);
    this.#release(this.#afterHalt);
    this.#options.onHalt(halt);
  }

  #testLater(): void {
    const now = performance.now();
    const lastedMs = now - (this.#streak?.since ?? now);
    this.#nextTestAt = now + Math.min(Math.max(lastedMs * testAfterPart, shortestTestMs), longestTestMs);
    this.#options.onChange();
  }

  #endTest(admitted: boolean): void {
    const test = this.#test;
    this.#test = undefined;
    clearTimeout(test?.timer);
    test?.resolve(admitted && !this.#closed);
  }

  #watchIdle(): void {
    if (this.#held.length === 0) return;
    clearTimeout(this.#idle);
    if (this.#inHand > this.#held.length) return;
    const patienceMs = this.#state === 'unproven' ? idleMs.unproven : idleMs.proven;
    this.#idle = setTimeout(() => this.#nothingLeft(), patienceMs);
    this.#idle.unref();
  }

  /** No other call will follow before these rows have verdicts. */
  #nothingLeft(): void {
    const troubles = this.#held.map(({ trouble }) => trouble);
    const several = troubles.filter(({ repeated }) => !repeated).length >= severalCalls;
    if (several || troubles.some(isDoubtful)) this.#trip();
    else {
      if (this.#state === 'unproven') this.#spent += troubles.length;
      this.#release('row');
    }
  }

  #release(blame: Blame): void {
    clearTimeout(this.#idle);
    clearTimeout(this.#decision);
    for (const { release } of this.#held.splice(0)) release(blame);
  }
}

/** The evidence says more about the API than about its row. */
function isDoubtful(evidence: HealthEvidence): boolean {
  return evidence.kind === 'trouble' && evidence.cause !== 'either';
}
