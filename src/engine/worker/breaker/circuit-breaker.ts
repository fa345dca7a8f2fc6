import { EarlyCalls } from './early-calls.ts';
import {
  type Blame,
  type BreakerHalt,
  type HealthEvidence,
  isDoubtful,
  type RefusedCall,
  type Trouble,
} from './health-evidence.ts';
import { HeldVerdicts, needsSuccess } from './held-verdicts.ts';
import { type BreakerOutage, OutageTests, outageOf, Recovery } from './outage-tests.ts';
import { areSeveralFailures, type CountedCalls, FailureStreak, RefusalStreak } from './streaks.ts';

export interface CircuitBreakerOptions {
  /** The longest outage before the breaker halts. Absent: no limit. */
  readonly maxOutageMs?: number | undefined;
  /** Called when `prefetchLimit` may have changed. */
  readonly onChange: () => void;
  /** Called once, when the breaker admits no more calls. */
  readonly onHalt: (halt: BreakerHalt) => void;
}

/** An unproven API has this many calls, or this much time, to answer a call. */
const atStart = { mostCalls: 20, mostMs: 30_000 };
/** The most rows waiting for their verdicts for which other rows are taken in hand. */
const mostHeldVerdicts = 20;
/** After this long with nothing left to call, the API is judged by the calls so far. The first rows may take longer to arrive. */
const idleMs = { unproven: 5_000, proven: 1_000 };
/** After a streak of failures this long, users are told what the run waits for. */
const noticeAfterMs = 4_000;

/**
 * Distinguishes trouble of the API from trouble of a row. While rows fail and no call is answered, their verdicts are held back: the next
 * calls show what to blame.
 *
 * ```
 *              answered              calls in a row have failed
 *   unproven ────────────▶ closed ──────────────────────────────▶ open ◀─┐
 *      │                     ▲                                    │ │ └──┘ a single call has failed:
 *      │                     └──────── a single call was answered ┘ │      the next one later
 *      │ 20 calls failed, 5 of them unclear, or 30 s                │
 *      └──────────────────────────▶ halted ◀────────────────────────┘ longer than `maxOutageMs`
 * ```
 *
 * It also halts when the API has refused (429, 503) every call for longer than `maxOutageMs`; and, before an operation has succeeded, when
 * five 2xx answers could not be read, or twenty refusals would mean "done".
 *
 * `closed` releases the held verdicts at the next answer: each row has its own trouble then. Refusals that would mean "done" wait for a
 * success. `open` and `halted` blame the API. After an outage the rows in hand double with each round of answers, and a call that began
 * before its end and fails later blames the API, too.
 */
export class CircuitBreaker {
  endedOutages = 0;
  readonly #options: CircuitBreakerOptions;
  #state: 'unproven' | 'closed' | 'open' | 'halted' = 'unproven';
  /** Rows between `begin` and `end`. */
  #rowsInHand = 0;
  /** Failed calls of an unproven API that are no longer held. */
  #releasedFailures = 0;
  readonly #earlyCalls = new EarlyCalls();
  #firstCallAt: number | undefined;
  #streak: FailureStreak | undefined;
  readonly #refusals = new RefusalStreak();
  readonly #heldVerdicts = new HeldVerdicts();
  readonly #recovery = new Recovery();
  readonly #tests = new OutageTests();
  #decisionTimer: NodeJS.Timeout | undefined;
  #idleTimer: NodeJS.Timeout | undefined;
  #closed = false;

  constructor(options: CircuitBreakerOptions) {
    this.#options = options;
  }

  /** The outage to show, if any: rows that have waited for their verdicts for seconds also show an outage. */
  get outage(): BreakerOutage | undefined {
    const [streak, isOpen] = [this.#streak, this.#state === 'open'];
    const isNoticed = isOpen || (this.#heldVerdicts.length > 0 && (streak?.lastedMs ?? 0) >= noticeAfterMs);
    if (streak === undefined || !isNoticed) return undefined;
    const longestMs = this.#state === 'unproven' ? atStart.mostMs : this.#options.maxOutageMs;
    return outageOf(streak, isOpen ? this.#tests.nextInMs : 0, longestMs);
  }

  /** An operation has succeeded here or elsewhere: the API is known to answer as the service does. */
  prove(): void {
    this.#noteSuccess();
    if (this.#state !== 'unproven') return;
    this.#state = 'closed';
    this.#decide();
    this.#options.onChange();
  }

  /** Rows to have in hand if `wanted` are needed; at most `unproven` in a call while nothing is known about the API. */
  prefetchLimit(wanted: number, unproven: number): number {
    const held = this.#heldVerdicts.length;
    if (this.#state === 'unproven') {
      const inCalls = Math.min(unproven, this.#earlyCalls.mostInFlight);
      return Math.max(1, Math.min(held + inCalls, atStart.mostCalls - this.#releasedFailures));
    }
    if (this.#state !== 'closed') return 1;
    const mostInHand = Math.min(wanted, this.#earlyCalls.mostInHand, this.#recovery.mostInHand);
    return mostInHand + Math.min(held, mostHeldVerdicts);
  }

  /** Counts a claimed row as in hand. Call `end` when the row has a verdict. */
  begin(): void {
    this.#rowsInHand += 1;
    this.#watchIdle();
  }

  end(): void {
    this.#rowsInHand -= 1;
    this.#watchIdle();
  }

  /** Whether the call may be made now. Waits during an outage, possibly for long. */
  admit(): boolean | Promise<boolean> {
    if (this.#closed || this.#state === 'halted') return false;
    this.#firstCallAt ??= performance.now();
    return this.#state === 'open' ? this.#tests.admit() : true;
  }

  /** @param outagesBefore `endedOutages` when the call began: an outage that has ended since is to blame for the failure */
  assess(evidence: HealthEvidence, outagesBefore = this.endedOutages): Blame | Promise<Blame> {
    if (this.#state === 'halted') return 'halted';
    if (this.#closed) return isDoubtful(evidence) || this.#state === 'open' ? 'halted' : 'row';
    if (evidence.kind === 'trouble') return this.#assessTrouble(evidence, outagesBefore);
    if (evidence.kind === 'none' && this.#state === 'open') this.#testLater();
    if (evidence.kind === 'refused') this.#noteRefusal(evidence);
    if (evidence.kind === 'answered') {
      if (evidence.isSuccess) this.#noteSuccess();
      this.#refusals.end();
      this.#noteAnswer();
    }
    return 'row';
  }

  #assessTrouble(trouble: Trouble, outagesBefore: number): Blame | Promise<Blame> {
    const { cause } = trouble;
    if (cause === 'either' && outagesBefore < this.endedOutages) return 'target';
    const isUnproven = this.#state === 'unproven';
    this.#earlyCalls.add(trouble, isUnproven);
    if (!isUnproven && (cause === 'unread' || cause === 'done')) return this.#assessEarlyTrouble(trouble);
    if (!isUnproven && cause === 'path') {
      this.#refusals.end();
      this.#noteAnswer();
      return 'row';
    }
    this.#streak ??= new FailureStreak(trouble);
    this.#streak.add(trouble);
    if (this.#state === 'open') {
      this.#testLater();
      return 'target';
    }
    return this.#hold(trouble);
  }

  /** Assesses trouble after something has answered, and before a row of the operation has succeeded. */
  #assessEarlyTrouble(trouble: Trouble): Blame | Promise<Blame> {
    if (this.#earlyCalls.areTooMany) {
      this.#giveUp('unproven', this.#earlyCalls.streakTo(trouble));
      return 'halted';
    }
    if (this.#state === 'open') this.#testLater();
    return trouble.cause === 'done' ? this.#hold(trouble) : 'row';
  }

  #hold(trouble: Trouble): Promise<Blame> {
    const blame = this.#heldVerdicts.hold(trouble);
    this.#decide();
    this.#watchIdle();
    this.#options.onChange();
    return blame;
  }

  #noteSuccess(): void {
    this.#earlyCalls.noteSuccess();
    this.#release('row', needsSuccess);
  }

  close(): void {
    this.#closed = true;
    clearTimeout(this.#decisionTimer);
    this.#tests.stop();
    this.#release('halted');
  }

  #noteRefusal({ path, failure }: RefusedCall): void {
    this.#refusals.add();
    const { calls, lastedMs } = this.#refusals;
    const { maxOutageMs = Number.POSITIVE_INFINITY } = this.#options;
    if (lastedMs > maxOutageMs) this.#halt({ because: 'refusals', path, failure, calls, lastedMs });
    else if (failure.status === 429) this.#noteAnswer();
    else if (this.#state === 'open') this.#testLater();
  }

  #noteAnswer(): void {
    const lastState = this.#state;
    this.#state = 'closed';
    this.#streak = undefined;
    this.#earlyCalls.noteAnswer();
    if (lastState === 'open') {
      this.endedOutages += 1;
      this.#tests.end();
      this.#recovery.begin();
    }
    const isRecovering = this.#recovery.noteAnswer();
    const changes = lastState !== 'closed' || this.#heldVerdicts.length > 0 || isRecovering;
    clearTimeout(this.#decisionTimer);
    this.#release('row', (trouble) => !needsSuccess(trouble));
    if (changes) this.#options.onChange();
  }

  /** Trips if enough calls have failed; otherwise schedules the next decision. */
  #decide(): void {
    clearTimeout(this.#decisionTimer);
    if (this.#streak === undefined || this.#closed) return;
    const now = performance.now();
    const { calls, since, latest, outageAt } = this.#streak;
    let at = Number.POSITIVE_INFINITY;
    if (this.#state === 'unproven') {
      const isCertain = calls >= atStart.mostCalls || latest.failure.code === 'TLS_ERROR';
      if (isDoubtful(latest) || areSeveralFailures(calls)) at = (this.#firstCallAt ?? since) + atStart.mostMs;
      if (isCertain || this.#earlyCalls.areTooMany) at = now;
    } else if (this.#state === 'closed') at = outageAt;
    if (at <= now) this.#trip();
    else if (at < Number.POSITIVE_INFINITY) {
      this.#decisionTimer = setTimeout(() => this.#decide(), Math.ceil(at - now));
      this.#decisionTimer.unref();
    }
  }

  #trip(): void {
    if (this.#state === 'unproven') this.#giveUp('unproven');
    else this.#open();
  }

  #open(): void {
    this.#state = 'open';
    const { maxOutageMs } = this.#options;
    const leftMs = maxOutageMs && maxOutageMs - (this.#streak?.lastedMs ?? 0);
    this.#tests.begin(leftMs, () => this.#giveUp('outage'));
    this.#testLater();
    clearTimeout(this.#decisionTimer);
    this.#release('target');
    this.#options.onChange();
  }

  #giveUp(because: 'unproven' | 'outage', streak: CountedCalls | undefined = this.#streak): void {
    if (streak === undefined) return;
    const { calls, lastedMs, latest } = streak;
    const troubles = [...this.#heldVerdicts.troubles, latest];
    const unclear = because === 'unproven' ? troubles.find(({ failure }) => failure.unclear) : undefined;
    const { path, failure, cause, row } = unclear ?? latest;
    const rowToSee = unclear !== undefined || cause === 'done' ? row : undefined;
    this.#halt({ because, cause, path, failure, calls, lastedMs, rowToSee });
  }

  #halt(halt: BreakerHalt): void {
    this.#state = 'halted';
    clearTimeout(this.#decisionTimer);
    this.#tests.stop();
    this.#release('halted');
    this.#options.onHalt(halt);
  }

  #testLater(): void {
    this.#tests.planNext(this.#streak?.lastedMs ?? 0);
    this.#options.onChange();
  }

  #watchIdle(): void {
    if (this.#heldVerdicts.length === 0) return;
    clearTimeout(this.#idleTimer);
    if (this.#rowsInHand > this.#heldVerdicts.length) return;
    const patienceMs = this.#state === 'unproven' ? idleMs.unproven : idleMs.proven;
    this.#idleTimer = setTimeout(() => this.#decideWithoutMoreCalls(), patienceMs);
    this.#idleTimer.unref();
  }

  /** Decides about the rows that wait for their verdicts, because no other call will follow before. */
  #decideWithoutMoreCalls(): void {
    const { troubles } = this.#heldVerdicts;
    const firstFailures = troubles.filter(({ isRepeated }) => !isRepeated);
    const early = troubles.find(needsSuccess);
    if (this.#state !== 'unproven' && early !== undefined)
      this.#giveUp('unproven', this.#earlyCalls.streakTo(early));
    else if (areSeveralFailures(firstFailures.length) || troubles.some(isDoubtful)) this.#trip();
    else {
      if (this.#state === 'unproven') this.#releasedFailures += troubles.length;
      this.#release('row');
    }
  }

  #release(blame: Blame, isMeant?: (trouble: Trouble) => boolean): void {
    clearTimeout(this.#idleTimer);
    this.#heldVerdicts.release(blame, isMeant);
    this.#watchIdle();
  }
}
