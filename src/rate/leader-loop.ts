import { steadyNow } from '../clock.ts';
import type { Member } from '../cluster/member.ts';
import { type CommonPolicy, commonPolicy } from '../cluster/rate-policy.ts';
import type { PaceReport, StartingPoint } from '../pace.ts';
import { after } from '../waiting.ts';
import type { CallGate } from './call-gate.ts';
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
  let last: StartingPoint = options.known ?? {};
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
    if (!leads) {
      controller = undefined;
      ledger = new TrafficLedger();
      if (pace === undefined) return;
      hasRun = pace.runs.length > 0;
      last = pace;
      obey(pace, pace.workers);
      return;
    }
    hasRun = policies.length > 0;
    // Rows that a run has left behind are called as it wanted, or as carefully as can be.
    if (hasRun) wanted = commonPolicy(policies);
    if (controller === undefined && pace?.limit !== undefined && last.limit === undefined) last = pace;
    const now = steadyNow();
    controller ??= new RateController(now, last);
    const met = ledger.add(now, reports);
    const { accepted, rejected } = ledger;
    const decided = { ...controller.update(now, met, wanted, reports.size), accepted, rejected };
    if (decided.limit !== undefined) last = { limit: decided.limit, concurrency: decided.concurrency };
    if (await member.decide(decided)) obey(decided, reports.size);
  };

  function obey(pace: PaceReport, workers: number): void {
    gate.heardOfRest(pace.restUntil ?? 0);
    meter.tolerates503 = pace.tolerates503;
    // Who has nothing to call has no places; what it may claim until then is an equal part.
    const part = Math.max(1, Math.floor(pace.concurrency / workers));
    const concurrency = options.concurrency ?? Math.max(gate.places, part);
    options.onPace(pace, { concurrency, inFlight: meter.inFlight });
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
