import { steadyNow } from '../clock.ts';
import type { Member } from '../cluster/member.ts';
import { type CommonPolicy, commonPolicy } from '../cluster/rate-policy.ts';
import { after } from '../waiting.ts';
import type { CallGate } from './call-gate.ts';
import { type AppliedPace, RateController, type StartingPoint } from './rate-controller.ts';
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
  /** What an earlier run has learned of the API. */
  readonly learned?: StartingPoint | undefined;
  readonly onPace: (pace: PaceReport) => void;
  readonly onError: (error: Error) => void;
}

/** The pace, and what it came to so far. */
export interface PaceReport extends AppliedPace {
  /** Calls that the API has accepted and rejected, of all workers, since their governor began. */
  readonly accepted: number;
  readonly rejected: number;
  /** Calls in flight that this process may have. */
  readonly ownConcurrency: number;
  /** Those that it has; undefined when it has none. */
  readonly inFlight: CallsInFlight | undefined;
}

/** Tells the other workers what the calls of this one meet with, and sets the rate for all of them when it leads. */
export interface LeaderLoop {
  /** Resolves when a pace is known: no row may be claimed before. */
  readonly established: Promise<void>;
  stop(): Promise<void>;
}

/** How fast a limit that drops is noticed, and how well calls in flight are known. */
const beatMs = 100;
/** No more than that is worth waiting for a datastore when all calls are over. */
const farewellMs = 2_000;
/** Without a run and without calls there is hardly any news. */
const quietEveryMs = 500;

export function startLeaderLoop(options: LeaderLoopOptions): LeaderLoop {
  const { member, meter, gate } = options;
  let controller: RateController | undefined;
  let ledger = new TrafficLedger();
  let last: StartingPoint = options.learned ?? {};
  let wanted: CommonPolicy = { auto: true };
  let beganAt = Number.NEGATIVE_INFINITY;
  let hasRun = true;
  let stopped = false;
  let establish: () => void = () => {};
  const established = new Promise<void>((resolve) => {
    establish = resolve;
  });

  const beat = async (): Promise<void> => {
    beganAt = performance.now();
    const traffic = meter.report();
    const { leads, reports, policies, pace } = await member.beat({
      active: gate.active,
      ...options.facts(),
      traffic,
    });
    // It is over, and may have been given up: nothing is set behind anybody's back.
    if (stopped) return;
    const now = steadyNow();
    const paceAge = pace === undefined ? 0 : Math.max(0, Date.now() - Date.parse(pace.seenAt));
    const restUntil = pace === undefined ? 0 : now + pace.restMs - paceAge;
    if (!leads) {
      controller = undefined;
      ledger = new TrafficLedger();
      if (pace === undefined) return;
      hasRun = pace.runs.length > 0;
      last = {
        ...(pace.learned !== undefined && { rate: pace.learned }),
        concurrency: pace.concurrency,
        ...(restUntil > now && { waitUntil: restUntil }),
      };
      const { phase, restMs: _, ...rest } = pace;
      const followed = {
        ...rest,
        phase: phase as AppliedPace['phase'],
        tolerates503: pace.tolerates503 ?? false,
        ...(restUntil > now && { restUntil }),
      };
      obey(followed, pace.workers, pace);
      return;
    }
    hasRun = policies.length > 0;
    // Rows that a run has left behind are called as it wanted, or as carefully as can be.
    if (hasRun) wanted = commonPolicy(policies);
    if (controller === undefined && pace?.learned !== undefined && last.rate === undefined)
      last = {
        rate: pace.learned,
        concurrency: pace.concurrency,
        ...(restUntil > now && { waitUntil: restUntil }),
      };
    controller ??= new RateController(now, last);
    const met = ledger.add(now, reports);
    const applied = controller.update(now, met, wanted, reports.size);
    if (applied.learned !== undefined) last = { rate: applied.learned, concurrency: applied.concurrency };
    const restMs = Math.max(0, (applied.restUntil ?? 0) - now);
    const { accepted, rejected } = ledger;
    const { restUntil: _, ...decided } = applied;
    const isDone = await member.decide(
      { ...decided, restMs, active: met.active, accepted, rejected },
      { rate: applied.isKept ? applied.rate : undefined, cap: applied.concurrency, restMs },
    );
    if (isDone) obey(applied, reports.size, { accepted, rejected });
  };

  function obey(
    pace: AppliedPace,
    workers: number,
    { accepted, rejected }: Pick<PaceReport, 'accepted' | 'rejected'>,
  ) {
    gate.heardOfRest(pace.restUntil ?? 0);
    meter.tolerates503 = pace.tolerates503;
    // Who has nothing to call has no places; what it may claim until then is an equal part.
    const part = Math.max(1, Math.floor(pace.concurrency / workers));
    const ownConcurrency = options.concurrency ?? Math.max(gate.places, part);
    options.onPace({ ...pace, accepted, rejected, ownConcurrency, inFlight: meter.inFlight });
    establish();
  }

  let beating: Promise<void> | undefined;
  let again = false;
  const beatNow = (): void => {
    if (stopped) return;
    if (beating !== undefined) {
      again = true;
      return;
    }
    beating = beat()
      .catch(options.onError)
      .finally(() => {
        beating = undefined;
        if (!again) return;
        again = false;
        beatNow();
      });
  };
  meter.onRefused = (waitUntil) => {
    gate.refused(waitUntil);
    // Who leads can act at once; the others are heard of soon.
    if (controller !== undefined) beatNow();
  };
  const timer = setInterval(() => {
    const isQuiet = !hasRun && meter.active === 0;
    if (!isQuiet || performance.now() >= beganAt + quietEveryMs) beatNow();
  }, beatMs);
  timer.unref();
  beatNow();

  return {
    established,
    async stop() {
      stopped = true;
      clearInterval(timer);
      // Those who look will see that it is gone: a datastore that is away is neither waited for nor an error.
      const farewell = (beating ?? Promise.resolve()).then(() => member.leave());
      await Promise.race([farewell, after(farewellMs)]).catch(options.onError);
    },
  };
}
