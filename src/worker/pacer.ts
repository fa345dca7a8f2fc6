import { steadyNow, steadyTimeOf, timeOfDay } from '../clock.ts';
import type { Traffic } from '../governor/traffic.ts';
import type { CommonPolicy } from '../queue/rate-policy.ts';
import type { RowQueue } from '../queue/row-queue.ts';
import type { CallsInFlight } from '../run/progress.ts';
import { after } from '../waiting.ts';
import { shareOf, spacingOf } from './allotment.ts';
import type { CallGate } from './call-gate.ts';
import type { Exchange } from './exchange.ts';
import { type AppliedPace, type StartingPoint, Steering } from './steering.ts';
import { TrafficLedger } from './traffic-ledger.ts';
import type { TrafficMeter } from './traffic-meter.ts';
import { turnOf } from './turns.ts';

export interface PacerOptions {
  readonly queue: RowQueue;
  readonly exchange: Exchange;
  readonly meter: TrafficMeter;
  readonly gate: CallGate;
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

/** Keeps the calls of this process, and those of all others when it leads them, at the pace that the API permits. */
export interface Pacer {
  /** Resolves when a rate is in force: no row may be called before. */
  readonly established: Promise<void>;
  stop(): Promise<void>;
}

/** What waits at the gate when a call is refused does not go out before it is clear what that means. */
const considerMs = 50;
/** No more than that is worth waiting for a datastore when all calls are over. */
const farewellMs = 2_000;
/** Without a run and without calls there is hardly any news. */
const quietEveryMs = 500;

export function startPacer(options: PacerOptions): Pacer {
  const { queue, exchange, meter, gate } = options;
  let steering: Steering | undefined;
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
    const report = meter.report();
    const { reports, leads, place, policy, pace } = await exchange.swap(report);
    hasRun = policy !== undefined;
    // It is over, and may have been given up: nothing is set behind anybody's back.
    if (stopped) return;
    const now = steadyNow();
    // Rows that a run has left behind are called as it wanted, or as carefully as can be.
    wanted = policy ?? wanted;
    if (!leads) {
      steering = undefined;
      ledger = new TrafficLedger();
      if (pace === undefined) return;
      meter.elsewhere = Math.max(0, pace.active - meter.active);
      last = { ...(pace.learned !== undefined && { rate: pace.learned }), concurrency: pace.concurrency };
      const { restMs, phase, turnAt, ...rest } = pace;
      obey(
        {
          ...rest,
          phase: phase as AppliedPace['phase'],
          gatesKeep: pace.gatesKeep ?? false,
          tolerates503: pace.tolerates503 ?? false,
          ...(restMs > 0 && { restUntil: now + restMs }),
          ...(turnAt !== undefined && { turnAt: steadyTimeOf(turnAt) }),
        },
        { workers: pace.workers, place, accepted: pace.accepted, rejected: pace.rejected },
      );
      establish();
      return;
    }
    const traffic = amongOthers(ledger.add(now, reports), reports.size - 1, exchange.everyMs);
    meter.elsewhere = Math.max(0, traffic.active - report.active);
    steering ??= new Steering(queue, now, last);
    const applied = await steering.steer(now, traffic, wanted, reports.size);
    if (applied.learned !== undefined) last = { rate: applied.learned, concurrency: applied.concurrency };
    obey(applied, { workers: reports.size, place, accepted: ledger.accepted, rejected: ledger.rejected });
    establish();
    const { restUntil, turnAt, ...decided } = applied;
    await exchange.publish({
      ...decided,
      restMs: Math.max(0, (restUntil ?? 0) - now),
      ...(turnAt !== undefined && { turnAt: timeOfDay(turnAt).getTime() }),
      active: traffic.active,
      accepted: ledger.accepted,
      rejected: ledger.rejected,
    });
  };

  function obey(
    pace: AppliedPace,
    shared: {
      readonly workers: number;
      readonly place: number;
      readonly accepted: number;
      readonly rejected: number;
    },
  ): void {
    const ownConcurrency = options.concurrency ?? shareOf(pace.concurrency, shared.workers, shared.place);
    const { rate, turnAt } = pace;
    meter.tolerates503 = pace.tolerates503;
    gate.rules = {
      concurrency: ownConcurrency,
      spacingMs: spacingOf(rate, { workers: shared.workers, gatesKeep: pace.gatesKeep }),
      ...(rate !== undefined && turnAt !== undefined && { turnAt: turnOf(shared.place, turnAt, rate) }),
      ...(pace.restUntil !== undefined && { restUntil: pace.restUntil }),
    };
    const { accepted, rejected } = shared;
    options.onPace({ ...pace, accepted, rejected, ownConcurrency, inFlight: meter.inFlight });
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
    gate.rest(Math.max(waitUntil, steadyNow() + considerMs));
    // Who leads can act at once; the others are heard of soon.
    if (steering !== undefined) beatNow();
  };
  const timer = setInterval(() => {
    const isQuiet = !hasRun && meter.active === 0;
    if (!isQuiet || performance.now() >= beganAt + quietEveryMs) beatNow();
  }, exchange.everyMs);
  timer.unref();
  beatNow();

  return {
    established,
    async stop() {
      stopped = true;
      clearInterval(timer);
      // Those who look will see that it is gone: a datastore that is away is neither waited for nor an error.
      const farewell = (beating ?? Promise.resolve()).then(() => exchange.close());
      await Promise.race([farewell, after(farewellMs)]).catch(options.onError);
    },
  };
}

/**
 * Others hear of a decision a little later: a call that they sent until then was sent before it. How many calls they have
 * in flight is known only about, and even our own the API counts for a little longer or shorter than we do.
 */
function amongOthers(traffic: Traffic, others: number, lateMs: number): Traffic {
  const { rejectedSentAt } = traffic;
  return {
    ...traffic,
    amongError: others + 1,
    ...(rejectedSentAt !== undefined && others > 0 && { rejectedSentAt: rejectedSentAt - lateMs }),
  };
}
