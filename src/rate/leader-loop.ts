import { steadyNow } from '../clock.ts';
import type { PublishedPace } from '../cluster/entries.ts';
import type { Beat, Member } from '../cluster/member.ts';
import { type CommonPolicy, commonPolicy, toHundredths } from '../cluster/rate-policy.ts';
import type { Pace, PaceReport, StartingPoint } from '../pace.ts';
import { type Repeated, repeat } from '../repeat.ts';
import { deferred, orAfter } from '../waiting.ts';
import type { CallGate } from './call-gate.ts';
import type { Traffic } from './governor/traffic.ts';
import { RateController } from './rate-controller.ts';
import { TrafficLedger } from './traffic-ledger.ts';
import type { CallsInFlight, TrafficMeter } from './traffic-meter.ts';

export interface LeaderLoopOptions {
  readonly member: Member;
  readonly meter: TrafficMeter;
  readonly gate: CallGate;
  /** What this worker says of itself. */
  readonly facts: () => { readonly finished: number; readonly concurrency: number };
  /** Calls in flight that the user wants in this process; absent: as many as are good. */
  readonly concurrency?: number | undefined;
  /** What an earlier run has found of the API. */
  readonly known?: StartingPoint | undefined;
  readonly onPace: (pace: PaceReport, own: OwnCalls) => void;
  readonly onError: (error: Error) => void;
}

/** What one process may do and does. */
export interface OwnCalls {
  /** Calls in flight that it may have. */
  readonly concurrency: number;
  /** Those that it has; undefined when it has none. */
  readonly inFlight: CallsInFlight | undefined;
}

type State = { readonly mode: 'following' } | { readonly mode: 'leading' } | { readonly mode: 'stopped' };

/** What decides for all, and what it has heard. */
interface Lead {
  readonly controller: RateController;
  readonly ledger: TrafficLedger;
}

/** How fast a limit that drops is noticed, and how well calls in flight are known. */
const beatMs = 100;
/** From one beat to the next for each worker that has rows: together they beat no more often than that. */
const beatPerCallerMs = 1;
/** At random, so that workers do not beat together; less than `silentMs`. */
const idleBeatMs = { least: 1_000, most: 1_500 } as const;
/** Workers that heard of the end of a rest do not come together. */
const restSpreadMs = 100;
/** Without a run and without calls for so long no worker leads. */
const restedAfterMs = 3_000;
/** No more than that is worth waiting for a datastore when all calls are over. */
const farewellMs = 2_000;

/**
 * Tells the other workers what the calls of this one meet with, and sets the rate for all of them when it leads.
 *
 * ```
 * following ◀──(the lease, at each beat)──▶ leading
 *     └────────────────(stop)─────────────────┴──▶ stopped
 * ```
 *
 * - **following**: obeys what another worker has decided, and begins with that should it come to lead. With rows in hand it
 *   beats ten times a second, less often among hundreds; without, once a second or so. Its first row makes it beat at once.
 * - **leading**: its rate controller hears what all workers meet with; what it decides is set for all. Without runs and calls
 *   it gives up the lead after some seconds, and goes on where it stopped unless another worker has led since.
 * - **stopped**: a beat that is under way sets nothing any more.
 */
export class LeaderLoop {
  readonly #options: LeaderLoopOptions;
  readonly #established = deferred();
  /** Resolves when a pace is known: no row may be claimed before. */
  readonly established = this.#established.promise;
  readonly #beats: Repeated;
  #state: State = { mode: 'following' };
  /** Of the time when this worker led last. */
  #lead: Lead | undefined;
  /** What a rate controller begins with. */
  #start: StartingPoint;
  #wanted: CommonPolicy = { auto: true };
  #isEstablished = false;
  #isIdle = false;
  /** Whether runs are at work, as the one that leads knows. */
  #hasRun = false;
  #workedAt = Number.NEGATIVE_INFINITY;
  #beganAt = Number.NEGATIVE_INFINITY;

  constructor(options: LeaderLoopOptions) {
    const { meter, gate, known, onError } = options;
    this.#options = options;
    this.#start = known ?? {};
    this.#beats = repeat(() => this.#beat(), { everyMs: () => this.#nextMs(), catchUp: true, onError });
    meter.onRefused = (waitUntil) => {
      gate.refused(waitUntil);
      // A worker that leads can act at once; it hears of the others soon.
      if (this.#state.mode === 'leading' || performance.now() >= this.#beganAt + beatMs) this.#beats.now();
    };
    gate.onRow = () => {
      if (this.#isIdle && gate.isBusy) this.#beats.now();
    };
    this.#beats.now();
  }

  /** Leaves the others. */
  async stop(): Promise<void> {
    const { member, onError } = this.#options;
    this.#state = { mode: 'stopped' };
    // Those who look will see that it is gone: a datastore that is away is neither waited for nor an error.
    await orAfter(
      this.#beats.stop().then(() => member.leave()),
      farewellMs,
    ).catch(onError);
  }

  /** When to beat again, as things are before a beat. */
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
    const { member, meter, gate, facts } = this.#options;
    this.#beganAt = performance.now();
    const own = { active: gate.active, ...facts(), traffic: meter.report() };
    // A run that is going is led also while no worker has rows: its rest goes on, and people see that.
    const beat = await member.beat(own, !this.#isIdle || this.#hasRun);
    // It may have been given up: nothing is set behind anybody's back.
    if (this.#state.mode === 'stopped') return;
    if (beat.leads) await this.#decide(beat);
    else this.#follow(beat.pace);
  }

  #follow(pace: PublishedPace | undefined): void {
    this.#state = { mode: 'following' };
    if (pace === undefined) return;
    this.#hasRun = pace.runs.length > 0;
    this.#start = pace;
    this.#obey(pace, pace.workers);
  }

  async #decide({ hasLed, reports, hasRuns, policies, rows, pace }: Beat): Promise<void> {
    const now = steadyNow();
    this.#hasRun = policies.size > 0;
    // Rows that a run has left behind are called as it wanted, or as carefully as can be.
    if (this.#hasRun) this.#wanted = commonPolicy(policies);
    this.#state = { mode: 'leading' };
    if (this.#lead === undefined || !hasLed) {
      if (pace?.limit !== undefined && this.#start.limit === undefined) this.#start = pace;
      this.#lead = { controller: new RateController(now, this.#start), ledger: new TrafficLedger() };
      this.#workedAt = now;
    }
    const { controller, ledger } = this.#lead;
    const met = ledger.add(now, reports);
    const { accepted, rejected } = ledger;
    const allowed = controller.update(now, met, this.#wanted, reports.size, rows);
    const decided = { ...namingBound(allowed, this.#wanted), accepted, rejected };
    const { limit, concurrency, refuses503 } = decided;
    if (limit !== undefined) this.#start = { limit, concurrency, refuses503 };
    if (await this.#options.member.decide(decided)) this.#obey(decided, reports.size);
    if (hasRuns || this.#options.gate.isBusy || isTraffic(met)) this.#workedAt = now;
    else if (now >= this.#workedAt + restedAfterMs) await this.#giveUpLead();
  }

  async #giveUpLead(): Promise<void> {
    const isGivenUp = await this.#options.member.giveUpLead();
    if (isGivenUp && this.#state.mode === 'leading') this.#state = { mode: 'following' };
  }

  #obey(pace: PaceReport, workers: number): void {
    const { gate, meter, concurrency, onPace } = this.#options;
    gate.heardOfRest(pace.restUntil ?? 0);
    meter.refuses503 = pace.refuses503;
    // Who has nothing to call has no places; what it may claim until then is an equal part.
    const part = Math.max(1, Math.floor(pace.concurrency / workers));
    onPace(pace, { concurrency: concurrency ?? Math.max(gate.places, part), inFlight: meter.inFlight });
    this.#isEstablished = true;
    this.#established.resolve();
  }
}

function isTraffic({ accepted, rejected, unavailable = 0, active }: Traffic): boolean {
  return accepted + rejected + unavailable + active > 0;
}

/** Says which run holds the others back, while its bound is what sets the rate. */
function namingBound(pace: Pace, { perSecond, boundBy }: CommonPolicy): Pace {
  const isBound = perSecond !== undefined && pace.rate === perSecond && pace.restUntil === undefined;
  if (!isBound || boundBy === undefined) return pace;
  return { ...pace, reason: `held to ${toHundredths(perSecond)}/s by run ${boundBy}`, boundBy };
}
