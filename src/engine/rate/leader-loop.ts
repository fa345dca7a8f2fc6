import { isDeepStrictEqual } from 'node:util';
import { steadyNow } from '../../base/async/clock.ts';
import { type RepeatedTask, repeat } from '../../base/async/repeat.ts';
import { deferred, withTimeout } from '../../base/async/waiting.ts';
import {
  longestInheritedRestMs,
  type Pace,
  type PaceReport,
  type StartingPoint,
  toHundredths,
} from '../../domain/pace.ts';
import type { PublishedPace } from '../cluster/entries.ts';
import type { Beat, Membership, WorkerBeat } from '../cluster/membership.ts';
import { type CommonPolicy, commonPolicy, type RunPolicies } from '../cluster/rate-policy.ts';
import { CallCounts } from './call-counts.ts';
import type { CallGate } from './call-gate.ts';
import type { Traffic } from './governor/traffic.ts';
import { RateController } from './rate-controller.ts';
import type { CallsInFlight, TrafficMeter } from './traffic-meter.ts';

export interface LeaderLoopOptions {
  readonly membership: Membership;
  readonly meter: TrafficMeter;
  readonly gate: CallGate;
  readonly facts: () => Pick<WorkerBeat, 'finished' | 'concurrency' | 'outage'>;
  /** The user's number of calls in flight. Absent: as many as the API accepts. */
  readonly concurrency?: number | undefined;
  readonly startingPoint?: StartingPoint | undefined;
  readonly onPace: (pace: PaceReport, own: OwnCalls) => void;
  readonly onError: (error: Error) => void;
}

export interface OwnCalls {
  readonly concurrency: number;
  readonly inFlight: CallsInFlight | undefined;
  /** The workers that call the API, this one included. */
  readonly workers: number;
  /** The unfinished rows, if no other worker calls them. */
  readonly rowsLeft?: number | undefined;
}

type State = { readonly mode: 'following' } | { readonly mode: 'leading' } | { readonly mode: 'stopped' };

interface Leadership {
  readonly controller: RateController;
  readonly counts: CallCounts;
}

/** How fast a drop of a limit is noticed, and how exactly calls in flight are known. */
const beatMs = 100;
/** The time between beats for each worker with rows: bounds how often all of them beat. */
const beatPerCallerMs = 1;
/** The time between beats without rows: random, so that workers do not beat together; less than `silentAfterMs`. */
const idleBeatMs = { least: 1_000, most: 1_500 } as const;
/** Spreads the beats after a rest, whose end all workers know. */
const restSpreadMs = 100;
/** Without a run and calls for this long, no worker leads. */
const restedAfterMs = 3_000;
/** The longest wait for the datastore after the last call. */
const farewellMs = 2_000;

/**
 * Reports how this worker's calls ended, and sets the rate for all workers when it leads.
 *
 * ```
 * following ◀──(the lease, at each beat)──▶ leading
 *     └────────────────(stop)─────────────────┴──▶ stopped
 * ```
 *
 * - **following**: obeys another worker's decisions, and starts from them if it becomes the leader. Its first row makes it beat at once.
 * - **leading**: decides for all workers from their reports. It continues where it stopped unless another worker has led since. A run has a
 *   leader even while no worker has rows: no row is claimed during a rest, and users must see the rest or end it.
 * - **stopped**: a beat that is under way sets nothing any more.
 */
export class LeaderLoop {
  readonly #options: LeaderLoopOptions;
  readonly #established = deferred();
  /** Resolves when a pace is known: no row may be claimed earlier. */
  readonly established = this.#established.promise;
  readonly #beats: RepeatedTask;
  #state: State = { mode: 'following' };
  #leadership: Leadership | undefined;
  #start: StartingPoint;
  #wantedPolicy: CommonPolicy = { auto: true };
  #policies: RunPolicies = new Map();
  #restsSince: number | undefined;
  #isEstablished = false;
  #isIdle = false;
  #workedAt = Number.NEGATIVE_INFINITY;
  #beganAt = Number.NEGATIVE_INFINITY;

  constructor(options: LeaderLoopOptions) {
    const { meter, gate, startingPoint, onError } = options;
    this.#options = options;
    this.#start = startingPoint ?? {};
    this.#beats = repeat(() => this.#beat(), { everyMs: () => this.#nextMs(), catchUp: true, onError });
    meter.onRefused = (waitUntil) => {
      gate.noteRefusal(waitUntil);
      // A leader acts at once; news of other workers arrives soon.
      if (this.#state.mode === 'leading' || performance.now() >= this.#beganAt + beatMs) this.#beats.now();
    };
    gate.onRow = () => {
      if (this.#isIdle && gate.isBusy) this.#beats.now();
    };
    this.#beats.now();
  }

  async stop(): Promise<void> {
    const { membership, onError } = this.#options;
    this.#state = { mode: 'stopped' };
    // Others notice that this worker is gone: do not wait long for an unreachable datastore, and report no error.
    await withTimeout(
      this.#beats.stop().then(() => membership.leaveCluster()),
      farewellMs,
    ).catch(onError);
  }

  #nextMs(): number {
    const { gate, meter } = this.#options;
    const isBusy = gate.isBusy || meter.active > 0;
    this.#isIdle = this.#isEstablished && !isBusy && this.#state.mode !== 'leading';
    if (!this.#isIdle)
      return isBusy && this.#state.mode === 'following'
        ? Math.max(beatMs, gate.callers * beatPerCallerMs)
        : beatMs;
    const { least, most } = idleBeatMs;
    const idleMs = least + Math.random() * (most - least);
    return gate.isResting ? Math.min(idleMs, gate.restMs + Math.random() * restSpreadMs) : idleMs;
  }

  async #beat(): Promise<void> {
    const { membership, meter, gate, facts, concurrency } = this.#options;
    this.#beganAt = performance.now();
    const own = {
      active: gate.active,
      ...facts(),
      ...(concurrency === undefined && { isAuto: true as const }),
      traffic: meter.report(),
    };
    const beat = await membership.beat(own, !this.#isIdle);
    if (this.#state.mode === 'stopped') return;
    if (beat.leads) await this.#decide(beat);
    else this.#follow(beat.pace);
  }

  #follow(pace: PublishedPace | undefined): void {
    this.#state = { mode: 'following' };
    if (pace === undefined) return;
    this.#start = pace;
    this.#obey(pace, pace.workers);
  }

  async #decide({ hasLed, reports, hasRuns, policies, rows, pace }: Beat): Promise<void> {
    const now = steadyNow();
    // Rows left behind by a run are called at its rate; without a known run, at a searched rate.
    if (policies.size > 0) this.#wantedPolicy = commonPolicy(policies);
    this.#state = { mode: 'leading' };
    if (this.#leadership === undefined || !hasLed) {
      if (pace?.limit !== undefined && this.#start.limit === undefined) this.#start = pace;
      this.#leadership = { controller: new RateController(now, this.#start), counts: new CallCounts() };
      this.#workedAt = now;
    }
    const { controller, counts } = this.#leadership;
    const change = changeOf(this.#policies, policies);
    this.#policies = policies;
    if (change !== undefined) {
      this.#restsSince = now;
      controller.testBy(now, now + (change === 'rate' ? 0 : longestInheritedRestMs));
    }
    const traffic = counts.add(now, reports, this.#restsSince);
    const { accepted, rejected } = counts;
    const allowed = controller.update(now, traffic, this.#wantedPolicy, reports.size, rows);
    const decided = {
      ...namingBound(allowed, this.#wantedPolicy),
      restsSince: this.#restsSince,
      accepted,
      rejected,
    };
    const { limit, concurrency, refuses503 } = decided;
    if (limit !== undefined) this.#start = { limit, concurrency, refuses503 };
    if (await this.#options.membership.decide(decided)) this.#obey(decided, reports.size, rows);
    if (hasRuns || this.#options.gate.isBusy || isTraffic(traffic)) this.#workedAt = now;
    else if (now >= this.#workedAt + restedAfterMs) await this.#giveUpLead();
  }

  async #giveUpLead(): Promise<void> {
    const isGivenUp = await this.#options.membership.giveUpLead();
    if (isGivenUp && this.#state.mode === 'leading') this.#state = { mode: 'following' };
  }

  #obey(pace: PaceReport, workers: number, rows?: number): void {
    const { gate, meter, concurrency, onPace } = this.#options;
    if (meter.forgetWaits(pace.restsSince ?? 0)) gate.forgetOwnRest();
    gate.setCommonRest(pace.restUntil ?? 0);
    meter.refuses503 = pace.refuses503;
    // A worker with nothing to call has no seats: it may claim rows for an equal share.
    const part = Math.max(1, Math.floor(pace.concurrency / workers));
    onPace(pace, {
      concurrency: concurrency ?? Math.max(gate.seats, part),
      inFlight: meter.inFlight,
      workers,
      rowsLeft: workers === 1 ? rows : undefined,
    });
    this.#isEstablished = true;
    this.#established.resolve();
  }
}

/** What has changed of the runs: a user's `rate` ends earlier rests, the start of a `run` tests them. */
function changeOf(last: RunPolicies, current: RunPolicies): 'rate' | 'run' | undefined {
  const changed = [...current].filter(
    ([run, policy]) => !last.has(run) || !isDeepStrictEqual(last.get(run), policy),
  );
  if (changed.length === 0) return undefined;
  return changed.some(([, policy]) => policy?.auto !== true) ? 'rate' : 'run';
}

function isTraffic({ accepted, rejected, unavailable = 0, active }: Traffic): boolean {
  return accepted + rejected + unavailable + active > 0;
}

function namingBound(pace: Pace, { perSecond, boundBy }: CommonPolicy): Pace {
  const isBound = perSecond !== undefined && pace.rate === perSecond && pace.restUntil === undefined;
  if (!isBound || boundBy === undefined) return pace;
  return { ...pace, reason: `held to ${toHundredths(perSecond)}/s by run ${boundBy}`, boundBy };
}
